"""Words that say nothing about what a query is after, and the particles of Korean."""

from __future__ import annotations

ENGLISH = frozenset(
    """
    a about after again all also an and any are as at be because been before being both but by can
    cannot could did do does doing done down each even every few for from get gets getting give given
    go goes going gone got had has have having he her here him his how however i if in into is it its
    itself just keep keeps kept know let like look looks made make makes many may me might more most
    much must my no nor not now of off on once one only or other our out over own please same say says
    see seem seems seen she should show shows since so some someone something still such take takes
    than that the their them then there these they thing things this those through to too two under
    until up us very want was way we well went were what whatever when where whether which while who
    whole whom whose why will with without would yet you your im ive dont doesnt didnt cant isnt wasnt
    don doesn didn isn wasn aren weren hasn haven hadn couldn wouldn shouldn ll ve re
    happen happened happens happening find tell anyone anything everything between almost really quite
    around another else ever never always maybe actually basically sort kind lot lots bit today
    yesterday tomorrow
    """.split()
)
"""English words without meaning of their own. They are indexed, so that quoted phrases work."""

KOREAN = frozenset(
    """
    그 그런 그리고 그래서 나 내 너 우리 저 저희 이 이런 이거 그거 저거 것 거 게 때 때문 때문에 뭐 무엇
    뭔가 왜 어떻게 어떤 언제 어디 누가 누구 좀 더 잘 안 못 다 또 및 등 수 하는 하고 해서 했는데 했다
    한다 하다 합니다 했습니다 해요 했어요 되는 되고 돼서 됐는데 됐다 된다 되다 됩니다 됐습니다 돼요
    됐어요 있는 있고 있다 있어요 있습니다 있었다 있나요 없는 없다 없어요 없습니다 인가 인가요 인지 나요
    사례 알려줘 알려주세요 찾아줘 보여줘 비슷한 관련 관련된 대한 대해 경우 계속 갑자기 자꾸 모두 전부
    일이 생겼는데 생겼다 무슨 이유 이유가 그냥 근데 그런데 그래도 하지만 엄청 너무 많이 아주 매우 진짜
    정말 별 별로 오늘 어제 내일 방금 아까 지금 이미 아직 다시 같이 같아요 같은데 같습니다 인데 인데요
    이에요 예요 입니다 인가여 되나요 되나여 되죠 있나 있나여 있는데 있어서 있었는데 없나 없나요 없는데
    없이 하나요 하나여 하면 하면서 하니 하니까 하는데 하던 한데 했더니 했을 할 해도 해보니 알려주실
    알고 알았는데 아닌 아닌데 아닌듯 아닌가 아니라 아니고 듯 듯함 싶어요 싶은데 보니 보니까 보면 나서
    나는 났어요 났다 나더니 왜이러죠 뭐가 뭐죠 뭔지 거죠 건가 건가요 건지 걸까 걸까요 ㅠ ㅠㅠ ㅋㅋ ㅎㅎ
    여러 여러분 혹시 제가 제발 급해요 비슷 사람 분 님 그때 이때 동안 정도 통해 위해 따라 대로 만큼 처럼
    작년 재작년 올해 지난달 지난주 이번 최근 요즘
    부분 상황 문제 원인 이슈 있을까 있을까요 있었던 있던
    """.split()
)
"""Korean words without meaning of their own, as people type them in a chat."""

PARTICLES = tuple(
    sorted(
        """
        은 는 이 가 을 를 의 에 에서 에게 에는 에도 에만 로 으로 로는 으로는 로도 와 과 도 만 까지 부터
    처럼 보다 라고 이라고 이나 나 이랑 랑 하고 이고 이며 들이 들은 들을 들 에서는 에서도 한테 께서 마다
    조차 밖에 이라 라서 이라서 때문에
        """.split(),
        key=len,
        reverse=True,
    )
)
"""Particles that follow a Korean noun, the longest first."""
