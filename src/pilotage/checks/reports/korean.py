"""The sentences of readers and checks about what was not looked at, in Korean.

They are made where the reason is known, in English, with names and figures in them. Here each stands as a
pattern; what stands in its places is a name, which stays, or a part that has a pattern of its own. What
programs outside say (helm, the API server, a YAML parser) stays as they say it.
"""

from __future__ import annotations

import functools
import re

SENTENCES: dict[str, str] = {
    # What was passed over, counted
    "not Kubernetes": "쿠버네티스가 아님",
    "other files": "다른 파일",
    "archives without a chart": "차트가 없는 압축 파일",
    "folders of test data": "테스트 데이터 폴더",
    "files of older releases": "이전 릴리스의 파일",
    "library charts": "라이브러리 차트",
    "Kustomize patch": "Kustomize 패치",
    "controlled by an object that was read": "읽은 객체가 관리하는 객체",
    # What could not be read
    "cannot be read: {}": "읽을 수 없음: {}",
    "Permission denied": "권한 없음",
    "it is a link that leads nowhere": "가리키는 대상이 없는 링크",
    "Too many levels of symbolic links": "심볼릭 링크가 순환함",
    "No such file or directory": "파일이나 폴더가 없음",
    "File name too long": "파일 이름이 너무 김",
    "it is empty: the command before the pipe wrote nothing": "비어 있음: 파이프 앞의 명령이 쓴 것이 없음",
    "it is empty": "비어 있음",
    "it is no text: it holds zero bytes": "텍스트가 아님: 0 바이트가 들어 있음",
    "longer than {} MiB, or without an end": "{} MiB보다 길거나 끝이 없음",
    "it is a socket, or a device that is not there": "소켓이거나, 없는 장치",
    "the JSON ends in the middle of a value": "JSON이 값 중간에서 끝남",
    "not UTF-8": "UTF-8이 아님",
    "neither a manifest nor a configuration that we know": "매니페스트도, 알려진 설정 파일도 아님",
    "no Kubernetes object in this file": "이 파일에 쿠버네티스 객체가 없음",
    "no nginx directive in this file": "이 파일에 nginx 지시어가 없음",
    "no server block in this file": "이 파일에 서버 블록이 없음",
    "nothing in it could be checked: {}; what --exclude or pilotage.toml excludes was passed over": (
        "점검할 수 있는 것이 없음: {}; --exclude나 pilotage.toml에서 제외한 것은 건너뜀"
    ),
    "nothing in it could be checked: {}": "점검할 수 있는 것이 없음: {}",
    "{}, 1 place that looks like unrendered templates": "{}, 렌더링하지 않은 템플릿으로 보이는 곳 1곳",
    "{}, {} places that look like unrendered templates": "{}, 렌더링하지 않은 템플릿으로 보이는 곳 {}곳",
    "it has no manifest and no configuration that we know by its name": (
        "매니페스트나, 이름으로 알 수 있는 설정 파일이 없음"
    ),
    "{} file, none with a Kubernetes object": "파일 {}개, 쿠버네티스 객체 없음",
    "{} files, none with a Kubernetes object": "파일 {}개, 쿠버네티스 객체 없음",
    "looks like an unrendered template: render it first (helm template, kubectl kustomize)": (
        "렌더링하지 않은 템플릿으로 보임: 먼저 렌더링할 것 (helm template, kubectl kustomize)"
    ),
    "looks like an unrendered template: its name is a placeholder": (
        "렌더링하지 않은 템플릿으로 보임: 이름이 자리 표시자임"
    ),
    "looks like an unrendered template: render it, and check the result": (
        "렌더링하지 않은 템플릿으로 보임: 렌더링한 결과를 점검할 것"
    ),
    "a Helm chart that cannot be rendered: {}": "렌더링할 수 없는 Helm 차트: {}",
    "a Kustomize folder that cannot be rendered: {}": "렌더링할 수 없는 Kustomize 폴더: {}",
    "a Kustomize folder that is not rendered: {} (--rendered takes all as it lies)": (
        "렌더링하지 않은 Kustomize 폴더: {} (--rendered는 모두 있는 그대로 읽음)"
    ),
    "a Kustomize folder that is not rendered, like {} more of them: {} (--rendered takes all as it lies)": (
        "렌더링하지 않은 Kustomize 폴더 (외 {}개): {} (--rendered는 모두 있는 그대로 읽음)"
    ),
    "{} cannot be reached": "{}에 연결할 수 없음",
    "what lies elsewhere is waited for no longer than {} s": "다른 곳에 있는 것은 {}초까지만 기다림",
    "what Kustomize answers for it holds no Kubernetes object": "Kustomize의 결과에 쿠버네티스 객체가 없음",
    "what helm answers for it is no rendered chart: {}": "helm의 결과가 렌더링된 차트가 아님: {}",
    "{} (or leave charts out with --rendered)": "{} (또는 --rendered로 차트를 제외)",
    "{} (or leave it out with --rendered)": "{} (또는 --rendered로 제외)",
    "there is no helm on the PATH": "PATH에 helm이 없음",
    "there is neither kustomize nor kubectl on the PATH": "PATH에 kustomize도 kubectl도 없음",
    "the chart's dependencies are missing ({}): run helm dependency build {}": (
        "차트의 의존성이 없음 ({}): helm dependency build {} 실행 필요"
    ),
    "helm cannot render the chart: {}": "helm이 차트를 렌더링하지 못함: {}",
    "cannot be rendered: {}": "렌더링할 수 없음: {}",
    "no reason given": "이유가 제시되지 않음",
    # YAML
    "kubectl would not read it: {}": "kubectl이 읽지 못함: {}",
    "a tab stands here, and only spaces may indent": "여기에 탭이 있음. 들여쓰기에는 공백만 쓸 수 있음",
    "'{}' is a number that JSON does not know": "'{}': JSON에 없는 수",
    "half of a character stands alone: {}": "문자의 절반만 있음: {}",
    "'{}' is no number": "'{}': 수가 아님",
    "'{}' is no boolean": "'{}': 참/거짓 값이 아님",
    "unknown anchor '{}' referenced": "정의되지 않은 앵커 '{}' 참조",
    "the value tagged !!binary is not base64": "!!binary 태그의 값이 base64가 아님",
    "an anchor contains itself": "앵커가 자기 자신을 포함함",
    "nested too deep": "중첩이 너무 깊음",
    "nested more than {} levels deep": "중첩이 {}단계를 넘음",
    "excessive aliasing: its aliases unfold to too many values": "별칭이 지나치게 많은 값으로 펼쳐짐",
    "a key must be plain text": "키는 텍스트여야 함",
    "a key must not be null": "키는 null일 수 없음",
    "{} is too large a number for a key": "{}: 키로 쓰기에 너무 큰 수",
    "map merge requires map or sequence of maps as the value": "병합(<<)의 값은 매핑이나 매핑 목록이어야 함",
    # HAProxy, nginx, CoreDNS
    "HAProxy would not read it: {}": "HAProxy가 읽지 못함: {}",
    "{} words: HAProxy reads at most {} on one line": "단어 {}개: HAProxy는 한 줄에 {}개까지만 읽음",
    "{} more lines that HAProxy would refuse": "HAProxy가 거부할 줄이 {}줄 더 있음",
    "the quote {} is not closed": "따옴표 {}가 닫히지 않음",
    "the name of a variable must begin with a letter": "변수 이름은 글자로 시작해야 함",
    "\\x needs two hexadecimal digits": "\\x 뒤에는 16진수 두 자리가 필요함",
    "the brace of a variable is not closed": "변수의 중괄호가 닫히지 않음",
    "this .if has no .endif": "이 .if에 .endif가 없음",
    ".if nested deeper than {}": ".if 중첩이 {}단계를 넘음",
    "{} without an .if": ".if 없는 {}",
    "nginx would not read it: {}": "nginx가 읽지 못함: {}",
    "`{}` is not ended by `;`": "`{}` 끝에 `;`이 없음",
    "`include {}` names a file that is not here, so what it sets was not read": (
        "`include {}`의 파일이 여기에 없어 그 설정을 읽지 못함"
    ),
    "`include {}` comes back to a file that is being read": "`include {}`가 읽고 있는 파일로 되돌아옴",
    "more than {} includes: the others are not followed": "include가 {}개를 넘음: 나머지는 따라가지 않음",
    "CoreDNS would not read it: {}": "CoreDNS가 읽지 못함: {}",
    "`import {}` names a file that is not here, so what it sets was not read": (
        "`import {}`의 파일이 여기에 없어 그 설정을 읽지 못함"
    ),
    # Clusters
    "in namespace {}: {}": "네임스페이스 {}: {}",
    "not permitted{}": "권한 없음{}",
    "not permitted": "권한 없음",
    "the server has no {}": "서버에 {} 없음",
    "{} does not answer: {}": "{}: 응답 없음: {}",
    "{} stalls: no answer for {} in {} s": "{}: {}에 대한 응답이 {}초 동안 없음",
    "{} broke off in the middle of {}: {}": "{}: {} 도중에 연결이 끊김: {}",
    "no connection in {} s": "{}초 동안 연결되지 않음",
    "the certificate of {} {}": "{}의 인증서: {}",
    "the API server does not know who we are ({})": "API 서버가 사용자를 인증하지 못함 ({})",
    "the API server is too busy or not well ({}){}": "API 서버가 바쁘거나 정상이 아님 ({}){}",
    "the list of {} changed too fast to be read{}": "{} 목록이 읽는 동안 너무 빨리 바뀜{}",
    "the answer for {} is larger than {} MiB": "{}에 대한 응답이 {} MiB를 넘음",
    "the answer for {} is no list of objects": "{}에 대한 응답이 객체 목록이 아님",
    "{} answers with something that is no JSON object for {}": "{}: {}에 대한 응답이 JSON 객체가 아님",
    # What a check could not look at
    "no {} is among the files": "{}: 파일 중에 없음",
    "no {} for {} is among the files": "{}용 {}: 파일 중에 없음",
    "{} is not among the files": "{}: 파일 중에 없음",
    "{} is not whole among the files": "{}: 파일 중에 온전하지 않음",
    "its class comes with a product that is installed from elsewhere": (
        "클래스가 다른 곳에서 설치되는 제품에 딸려 옴"
    ),
    "{} is not in the scene": "{}: 점검 범위에 없음",
    "its data is a placeholder": "데이터가 자리 표시자임",
    "{} may be kept elsewhere": "{}: 다른 곳에 있을 수 있음",
    "{} may stand in an imported part": "{}: 가져온 부분에 있을 수 있음",
    "{} may stand in another file": "{}: 다른 파일에 있을 수 있음",
    "{} may be set in a part that is not here": "{}: 여기에 없는 부분에서 설정될 수 있음",
    "only a piece of a configuration: the settings may stand in another file": (
        "설정의 일부일 뿐임: 나머지 설정은 다른 파일에 있을 수 있음"
    ),
    "its autoscalers, each in a file of its own, may be alternatives": (
        "각각 다른 파일에 있는 오토스케일러 중 하나만 쓰일 수 있음"
    ),
    "several files hold {}, of which one is applied": "{}: 여러 파일에 있고, 그중 하나만 적용됨",
    "the tag of `{}` names no version": "`{}`의 태그에 버전이 없음",
    "the image's tag tells no version": "이미지 태그에 버전이 없음",
    "the version of `{}` cannot be read": "`{}`의 버전을 읽을 수 없음",
    "the node tells no kubelet version": "노드에 kubelet 버전이 없음",
    "its schedule cannot be read: {}": "스케줄을 읽을 수 없음: {}",
    "its host names are still to be filled in": "호스트 이름을 아직 채워야 함",
    "the map {} is not beside the configuration": "맵 {}: 설정 파일 옆에 없음",
    "the address of the socket is in a variable": "소켓 주소가 변수에 있음",
    "it names no class, and the default may be kept elsewhere": "클래스가 없음. 기본값은 다른 곳일 수 있음",
    "policies of another kind may let the controller in": "다른 종류의 정책이 컨트롤러를 허용할 수 있음",
    "policies of another kind may allow DNS": "다른 종류의 정책이 DNS를 허용할 수 있음",
    "{} may have {} made": "{}: {}를 만들 수 있음",
    "{} may be another one than the route means": "{}: 라우트가 뜻하는 것과 다를 수 있음",
    "no definition of {}, of which there {}: name its CustomResourceDefinition with --crds": (
        "{}의 정의가 없음 ({}): --crds로 CustomResourceDefinition 지정"
    ),
    "is one": "1개",
    "are {}": "{}개",
    "its pods are completed by Kustomize, which did not run": "파드를 완성하는 Kustomize가 실행되지 않음",
    "its pods may be made by something that is not here": "여기에 없는 것이 파드를 만들 수 있음",
    "{}: its matchConditions are not evaluated": "{}: matchConditions는 평가하지 않음",
    "{}: the namespace of its Service is not stated": "{}: Service의 네임스페이스가 명시되지 않음",
    # Checks of one's own
    "it is only a piece of an object, such as a patch: none of its containers names an image": (
        "패치처럼 객체의 일부일 뿐임: 이미지를 지정한 컨테이너가 없음"
    ),
    "{} gives a text, neither true nor false": "{}: 참도 거짓도 아닌 텍스트",
    "'namespaceObject' cannot be told: the Namespace {} is not in what was read": (
        "'namespaceObject'를 알 수 없음: 읽은 것 중에 Namespace {} 없음"
    ),
    "'namespaceObject' cannot be told: the object states no namespace": (
        "'namespaceObject'를 알 수 없음: 객체에 네임스페이스가 없음"
    ),
    "'{}' cannot be told: no {} is in what was read": "'{}'를 알 수 없음: 읽은 것 중에 {} 없음",
    "{} cannot be told: {}": "{}: 알 수 없음: {}",
    "the object is nested more than {} levels deep": "객체의 중첩이 {}단계를 넘음",
    "not asked any more: it failed {} before": "더 이상 평가하지 않음: 앞서 실패 ({})",
    "not asked any more: {}": "더 이상 평가하지 않음: {}",
    "all expressions together took more than {} s": "모든 식의 평가가 {}초를 넘음",
    "the expression took more than {} s": "식의 평가가 {}초를 넘음",
    "the expression brought its process down (code {}): too much memory, or too deep": (
        "식이 평가 프로세스를 중단시킴 (코드 {}): 메모리가 너무 많거나 중첩이 너무 깊음"
    ),
    "once": "1회",
    "{} times": "{}회",
    # Decisions without effect
    "there is no check '{}'. Did you mean {}?": "점검 '{}' 없음. 혹시 {}?",
    "there is no check '{}'.": "점검 '{}' 없음",
    "it gives no reason, so it does not count": "이유가 없어 무효",
    "it matches nothing any more": "더 이상 해당하는 것이 없음",
    "it expired on {}: {}": "{}에 만료됨: {}",
    "1 finding is back": "발견 사항 1건이 다시 나옴",
    "{} findings are back": "발견 사항 {}건이 다시 나옴",
    "remove it": "삭제할 것",
    "there is no such finding any more": "그런 발견 사항이 더 이상 없음",
    "it means nothing that was checked": "점검한 것 중에 해당하는 것이 없음",
    # A kind, and why it could not be read
    "{}: {}": "{}: {}",
}
"""Pattern -> Korean."""

NAMES: dict[str, str] = {
    "the ConfigMap {}": "ConfigMap {}",
    "its ConfigMap {}": "ConfigMap {}",
    "the PriorityClass {}": "PriorityClass {}",
    "the workload behind it": "그 뒤의 워크로드",
    "the workload behind {}": "{} 뒤의 워크로드",
    "its data": "데이터",
    "its Namespace": "네임스페이스",
    "namespace {}": "네임스페이스 {}",
    "its configuration": "설정",
    "its static configuration": "정적 설정",
    "the BackendConfig that it names": "지정한 BackendConfig",
    "a cache on each node": "노드별 캐시",
    "the plugin": "플러그인",
    "a resolver": "리졸버",
    "it": "설정",
}
"""What may stand in place of a name."""

_DEEPEST = 4


def korean(text: str, depth: int = 0) -> str:
    """A sentence in Korean; as it is where no pattern fits."""
    for pattern, made in _patterns():
        match = pattern.fullmatch(text)
        if match is None:
            continue
        parts = match.groups() if depth >= _DEEPEST else [korean(one, depth + 1) for one in match.groups()]
        return made.format(*parts)
    return text


@functools.cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    # Those that begin with words of their own before those with a name first, long ones before short ones.
    listed = sorted(SENTENCES, key=lambda one: (one.startswith("{}"), -len(one.replace("{}", ""))))
    return [
        (re.compile(re.escape(one).replace(r"\{\}", "(.+?)"), re.DOTALL), made)
        for one, made in [*((one, SENTENCES[one]) for one in listed), *NAMES.items()]
    ]
