"""What pages say of errors in Korean, sentence by sentence.

The command line and programs are told in English. A page looks the English sentence up here; `{}` stands for
what a reader typed or a number. A sentence that is missing is told by its code, with the English one beside it;
a test finds those that the pages can raise.
"""

# ruff: noqa: E501 - a sentence a line is how a catalogue is read and translated

from __future__ import annotations

BY_CODE: dict[str, str] = {
    "error": "요청을 처리하지 못했다.",
    "user-error": "요청한 대로는 할 수 없다. 바뀐 것은 없다.",
    "config-error": "설정이나 옵션 값이 잘못되었다.",
    "missing-extra": "설치하지 않은 선택 구성 요소가 필요하다.",
    "invalid-input": "입력을 읽을 수 없다.",
    "unknown-term": "없는 용어나 항목이다.",
    "too-large": "여기서 받는 것보다 길다.",
    "not-found": "그런 이름의 것이 없거나 볼 권한이 없다.",
    "conflict": "이미 있는 것과 부딪친다.",
    "outside-error": "바깥의 무언가가 실패했다.",
    "unreachable": "서버가 응답하지 않는다. 다시 시도하면 될 수 있다.",
    "busy": "서버가 지금 매우 바쁘다. 몇 초 뒤 다시 시도한다.",
    "refused": "상대 서버가 거절했다.",
    "bad-reply": "상대 서버의 답을 이해할 수 없다.",
    "tool-missing": "필요한 프로그램이 없다.",
    "store-error": "저장소가 일을 하지 못했다.",
    "store-busy": "저장소를 다른 작업이 쓰고 있다. 끝난 뒤 다시 시도한다.",
    "store-full": "저장 공간이 가득 찼다.",
    "store-read-only": "저장소에 쓸 수 없다.",
    "store-corrupt": "저장소 파일이 손상되었거나 저장소가 아니다.",
    "store-gone": "저장소가 있던 곳에 없다. 다시 놓으면 바로 이어서 답한다.",
    "store-too-new": "저장소가 더 새로운 버전으로 만들어졌다.",
    "safety-stop": "계속하면 해로울 수 있어 일부러 멈췄다.",
    "drill-error": "훈련을 수행하지 못했다.",
    "usage": "이 주소가 받지 않는 요청이다.",
    "bug": "서버의 잘못이다.",
}
"""Code of an error -> what it means. Every code of the tree is here."""

SENTENCES: dict[str, str] = {
    # what is wrong
    "no record '{}'": "‘{}’ 사례가 없다",
    "'{}' has no revision {}": "‘{}’ 사례에 개정 {}이 없다",
    "'{}' is no number of a revision": "‘{}’ 같은 개정 번호는 없다",
    "no organisation '{}'": "‘{}’ 조직이 없다",
    "'{}' is no kind of vocabulary": "‘{}’ 같은 어휘 종류는 없다",
    "no term '{}' among {}": "‘{}’ 용어가 없다({})",
    "there is no check '{}'": "‘{}’ 점검이 없다",
    "'{}' is no severity": "‘{}’ 같은 심각도는 없다",
    "'{}' is no family of checks": "‘{}’ 같은 점검 묶음은 없다",
    "'{}' is no facet": "‘{}’ 같은 패싯은 없다",
    "'{}' is no value of {}": "‘{}’ 값이 없다({})",
    "'{}' is no term": "‘{}’을 패싯과 값으로 읽을 수 없다",
    "'{}' is no cursor": "‘{}’을 다음 쪽 표시로 읽을 수 없다",
    "the cursor belongs to another question": "다음 쪽 표시가 다른 질문의 것이다",
    "{} facet terms are too many": "필터 {}개는 너무 많다",
    "{} incidents are too many side by side": "사례 {}건은 나란히 놓기에 너무 많다",
    "a word cannot be excluded from the title alone": "제목에서만 단어를 뺄 수는 없다",
    "the query is not valid text at character {}": "질의의 {}번째 글자를 읽을 수 없다",
    "there is nothing to check": "점검할 글이 없다",
    "the text is longer than {}": "글이 {}보다 길다",
    "the text has more than {} documents": "글에 문서가 {}개보다 많다",
    "checking took longer than {} seconds": "점검이 {}초를 넘겼다",
    "too many texts are being checked at once": "한꺼번에 점검하는 글이 너무 많다",
    "this server runs no checks that are sent to it": "이 서버는 보내온 점검을 실행하지 않는다",
    "the own checks are longer than {} bytes": "자체 점검이 {}바이트보다 길다",
    "there are more than {} own checks": "자체 점검이 {}개보다 많다",
    "the form is longer than {}": "양식이 {}보다 길다",
    "the address is too long": "주소가 너무 길다",
    "the path of the address is not text": "주소의 경로를 글로 읽을 수 없다",
    "the query of the address is not text": "주소의 질의를 글로 읽을 수 없다",
    "nothing is at this address": "이 주소에는 아무것도 없다",
    "The server failed to answer.": "서버가 답하지 못했다.",
    # what to do
    "Did you mean {}?": "가까운 것: {}",
    "Known are: {}.": "있는 것: {}",
    "Facets: {}.": "패싯: {}",
    "It has 1 to {}.": "개정은 1부터 {}까지 있다.",
    "They are counted from 1.": "개정은 1부터 센다.",
    "Search finds ids.": "검색하면 식별자를 찾을 수 있다.",
    "The list of organisations has all slugs.": "조직 목록에 모든 식별자가 있다.",
    "The list of checks has all ids.": "점검 목록에 모든 식별자가 있다.",
    "`pilotage library vocab` lists the terms.": "어휘 페이지에 모든 용어가 있다.",
    "Write facet=value; facets are {}.": "패싯=값으로 쓴다. 패싯: {}",
    "Pass `next` on as it came, or leave it out to begin anew.": "목록을 처음부터 다시 연다.",
    "Ask as you did when you got it, or leave it out to begin anew.": "목록을 처음부터 다시 연다.",
    "At most {} may be given.": "{}개까지 쓸 수 있다.",
    "Choose two to four.": "두 건에서 네 건을 고른다.",
    "-{} leaves out the records that hold it anywhere.": "-{}라고 쓰면 그 단어가 어디에든 있는 사례를 뺀다.",
    "Send it as UTF-8.": "UTF-8로 보낸다.",
    "Send Kubernetes manifests, or the configuration of HAProxy, nginx or CoreDNS, as text.": "쿠버네티스 매니페스트나 HAProxy, nginx, CoreDNS 설정을 글로 보낸다.",
    "Send less at once, or use `pilotage check` on the command line, which has no limits.": "나누어 보내거나 제한이 없는 명령줄의 `pilotage check`를 쓴다.",
    "Start it with --accept-own-checks, or use `pilotage check --checks FILE`.": "서버를 --accept-own-checks로 시작하거나 명령줄의 `pilotage check --checks FILE`을 쓴다.",
    "A search reads the first 20 kB of a text.": "검색은 글의 처음 20 kB를 읽는다.",
    "A query may have {} bytes; a search reads the first 20 kB of a text.": "질의는 {}바이트까지다. 검색은 글의 처음 20 kB를 읽는다.",
    "Try again in a few seconds.": "몇 초 뒤 다시 시도한다.",
    "Try again in a few seconds; the server's log says more.": "몇 초 뒤 다시 시도한다. 서버 로그에 자세한 내용이 있다.",
    "This is a fault of Pilotage; please report it.": "Pilotage의 잘못이다. 알려 주면 고친다.",
    "The description of the API lists every address: /api/v1/openapi.json.": "API 설명에 모든 주소가 있다: /api/v1/openapi.json",
    "This address takes {}.": "이 주소가 받는 메서드: {}",
}  # fmt: skip
"""English sentence -> Korean one, with the places in the same order."""
