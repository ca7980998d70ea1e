"""Names of worlds that reports on traffic paths and control planes rarely speak of.

Somebody who asks about a GPU, a mobile app or a spreadsheet shares many words with records of other things:
`error`, `failed`, `job`, `memory`. The name is what tells. It is evidence against a candidate only as long as
the candidate's title does not bear it, so a library that has such records is searched as before. The list is
written by theme from what such products are called; a query of a graded set is no reason for an entry.
"""

from __future__ import annotations

from collections.abc import Iterable

from pilotage.library.analysis import is_hangul, stem, without_particle, word_tokens

_ENGLISH = frozenset(
    stem(word)
    for word in """
    javascript typescript csharp perl scala kotlin swiftui matlab cobol fortran haskell elixir erlang
    clojure groovy delphi vba vbscript powershell
    react reactjs jsx vue vuejs angular angularjs svelte nextjs nuxt jquery webpack vite babel eslint npm yarn
    pnpm tailwind css scss sass redux graphql electron cordova ionic flutter xamarin unreal godot
    django flask fastapi rails laravel symfony wordpress drupal joomla magento shopify spring hibernate jpa
    struts jboss wildfly weblogic websphere jsp servlet blazor wpf winforms linq maven gradle
    android iphone ipad ios xcode testflight apns fcm safari samsung galaxy cocoapods appstore playstore
    windows macos laptop printer outlook excel powerpoint sharepoint onedrive hyperv vmware vsphere esxi
    vcenter citrix sccm intune bitlocker bluescreen bsod wifi bluetooth
    mariadb postgresql postgres oracle rac sqlserver mssql db2 sybase sqlite redis mongodb cassandra scylla
    hbase couchdb couchbase neo4j influxdb timescale clickhouse druid cockroachdb tidb firestore firebase
    supabase snowflake redshift bigquery databricks teradata vertica pgbouncer vacuum autovacuum wraparound
    tombstones elasticsearch opensearch lucene solr logstash splunk graylog
    kafka rabbitmq activemq pulsar mqtt celery sidekiq zeromq debezium mirrormaker flink spark hadoop hdfs
    hive presto trino airflow dag dbt nifi dagster luigi iceberg hudi parquet avro tableau looker powerbi
    superset metabase
    gpu cuda nvidia cudnn nccl tensorflow pytorch torch keras huggingface llm lora finetuning jupyter
    notebook pandas numpy scikit sklearn opencv mlflow kubeflow vllm
    jenkins gitlab travis teamcity bamboo buildx nexus harbor sonarqube selenium cypress
    playwright junit pytest appium runner monorepo git svn rebase
    ceph osd rbd cephfs glusterfs nfs smb iscsi raid mdadm zfs btrfs lvm netapp minio multipath ipmi bmc
    firmware bios dimm
    ansible saltstack vagrant packer pulumi proxmox cloudformation saml scim
    dkim dmarc spf mailbox imap postfix sendmail mailchimp spam phishing ransomware
    paypal coupon invoice refund salary payroll vacation recruiter
    sap jira confluence figma photoshop autocad pdf csv unicode
    """.split()
)
_KOREAN = frozenset(
    """
    자바스크립트 코틀린 스위프트 리액트 앵귤러 스프링 장고 플라스크 라라벨 워드프레스
    안드로이드 아이폰 아이패드 갤럭시 앱스토어 플레이스토어 웹뷰 플러터
    윈도우 맥북 노트북 프린터 엑셀 파워포인트 한글파일 아웃룩 블루스크린 와이파이 블루투스 액티브디렉터리
    오라클 포스트그레스 마리아디비 레디스 카산드라 엘라스틱서치 오픈서치 빅쿼리 스노우플레이크 몽고디비
    카프카 래빗엠큐 스파크 하둡 하이브 에어플로우 플링크 태블로 적재 정산
    쿠다 엔비디아 지피유 텐서플로 파이토치 파인튜닝 학습 라벨링 임베딩
    젠킨스 깃랩 깃 리베이스 머지 셀레늄
    세프 레이드 펌웨어 하버 넥서스 레지스트리
    스팸 피싱 랜섬웨어 유출 쿠폰 환불 급여 연차 휴가 재택 육아휴직 맛집 숙소 여행 세탁기 냉장고
    """.split()
)


def is_elsewhere(words: Iterable[str]) -> bool:
    """Whether one of these words, as `analysis.words` gives them, is such a name."""
    return any(
        without_particle(word) in _KOREAN if is_hangul(word) else not _ENGLISH.isdisjoint(word_tokens(word))
        for word in words
    )
