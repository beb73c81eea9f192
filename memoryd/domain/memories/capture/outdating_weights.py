"""The weights by which a message outdates a line, as `make eval-corrections ARGS=--fit` finds them."""

TABLE = """
-670 *
-185 = bleibt | = still
-165 = 没
-155 still =
-145 ^ in
-140 no ,
-135 = from
-130 = says | is no
-125 = stays | >26
-120 ? | ^ yes | nearly | on ≠ | ≡ $
-115 +getauscht | +passt | then
-110 = ok | if | was ≠
-105 +ihr | , then | is not | said $ | 是 ≠ | 点 | 要
-100 +aber | +nearly | +睡 | = 换 | i cant | jetzt auch
-95 +bald | +clock | +fox | +fürs | +night | +walk | +立 | , der | = sister | ? $ | i went | ja | moved the
-95 moving | switched the
-90 #time | +#daypart | +bitte | +heut | +ok | +≠ | , back | = 又 | N you | keine N | move | on #amount | only ,
-90 tomorrow | was at | ≡ =
-85 #days now | +about | +again | +make | +other | +sein | +theres | +持 | = same | ^ good | ^ meine | ^ put | ^ 对
-85 ^ 这 | a second | almost | and back | back again | dass | he says | here , | it was | over the | so no
-85 unheard | ≈ ≈ | 客 | 想
-80 ! i | +almost | +found | +moving | +s | +sie | +um | +wrote | , nothing | = called | = sich | am ≠ | closed on
-80 didnt | gestern ≈ | haha | home to | ihren | last year | sure | ~ N | 个 | 回 =
-75 #days from | +amazing | +black | +boss | +bring | +burned | +chair | +didnt | +looks | +move | +natürlich
-75 +say | +schreib | +sure | +unten | +vom | +year | +挂 | +章 | +线 | +血 | = clock | = the | = 做 | N all
-75 N off | N ≡ | all ≈ | at ≠ | baby , | before | braces | got = | her $ | how | its #amount | juniper | läuft
-75 might | morgen | not | one | switch the | to pay | ~ and | ~ was | 写 | 挂 了
-70 #amount 那 | #time since | +arme | +bis | +froh | +go | +halt | +if | +keine | +late | +live | +plates
-70 +puregym | +sang | +seepferdchen | +sofa | +think | +tomorrow | +website | +wird | +would | +yes | +她 | +慢
-70 +抽 | +过 | +都 | +面 | = left | = month | = schon | N habe | ^ change | ^ my | ^ our | ^ 数 | be in | by
-70 costs ≈ | for N | from me | gestrichen $ | home #amount | ja = | keep = | month since | oder | or | raum
-70 same ≈ | tonight | us $ | von der | whats | ≈ an | 个 了 | 壁 | 宝 | 涨 到
-65 ! ≠ | #number from | +great | +ins | +list | +mail | +might | +raum | +send | +sister | +sleep | +thought
-65 +vote | +what | +whos | +告 | +啊 | +宝 | +泡 | +然 | +知 | +能 | , zum | = N | = die | = keeps | = party
-65 N are | N down | ^ N | ^ a | a vote | add | all over | and still | basket | betriebsrat | bis | bother with
-65 coffee | crowd | dabei | down for | dry | fast | flu | for my | gut | her | in #number | is closed | not mine
-65 once | online , | pipe , | print | robbery $ | second = | this | to go | today , | very | wants | war
-65 with the | ~ is | 今 天 | 妇 的 | 数 | 明 天 | 没 人 | 知 道 | 说 | 请 | 谢 | 隔 壁
-60 #amount at | #number | #number and | #time now | +airport | +august | +basket | +braces | +cheaper | +coming
-60 +crowd | +dann | +dass | +dem | +flu | +follow | +full | +ganz | +große | +id | +l | +loft | +long | +münchen
-60 +normal | +oder | +please | +print | +remember | +second | +signed | +thank | +then | +top | +vegan | +事 | +客
-60 +花 | +让 | +许 | , of | , thats | , 一 | , 小 | , 就 | = lol | = me | = that | = time | = 长 | ^ #titled
-60 ^ the | ^ ~ | ^ 隔 | always = | auf = | aye | been put | gesagt | got flu | have = | home ! | ich am
-60 is called | its an | jetzt #number | late | nix | nope , | not ~ | ob | of course | order | partner | sag
-60 says hes | slipped | so ne | spring , | stopped the | switch | tell | the same | til | to move | too , | week
-60 went up | what | when | wieviel | zimmer , | ≈ 三 | ≠ early | 上 = | 了 ≈ | 了 我 | 别 的 | 大 宝 | 好 | 宝 ,
-60 快 | 是 大 | 的 | 盒 | 目 | 笑
-55 #days as | += | +add | +aye | +beide | +cake | +change | +coffee | +d | +earlier | +ein | +ever | +everything
-55 +face | +fahr | +friend | +grand | +gut | +home | +laden | +lucky | +man | +mo | +nice | +own | +partner
-55 +past | +rained | +schon | +slipped | +switch | +vor | +zimmer | +别 | +千 | +同 | +壁 | +安 | +带 | +帮 | +打
-55 +无 | +检 | +爸 | +粥 | , says | , theyre | , what | , 没 | = mother | = of | = wants | N = | N sold | N we
-55 ^ right | ^ thanks | ^ 小 | ^ 把 | ^ 知 | a new | all = | all day | all good | angeblich | at work | auf die
-55 best | burned | cold | come , | cousins | diese | drüben | for october | four | full , | für = | hamster
-55 has died | holiday | home 不 | i changed | in from | is back | is my | it this | just | lift $ | lindenstraße
-55 mal | meiner | need #amount | newsletter | no longer | noch | normal $ | of his | party | pipe | rained
-55 school | schreib | seinen | send | since ≡ | sold it | sure , | ta | taken up | test | thanks | von = | wann
-55 well | wenn | year ≈ | years | ≈ morning | ≠ # | ≠ night | ≡ ≈ | 主 | 了 记 | 会 | 修 好 | 公 | 几 | 周 末 | 啊
-55 定 | 对 , | 我 还 | 改 到 | 步 | 的 那 | 第 #amount | 老 婆 | 行 | 费 | 这
-50 #amount since | #days auf | +across | +allein | +angeblich | +asking | +bleib | +book | +brown | +chase
-50 +colleague | +drüben | +einfaches | +fährt | +gar | +guess | +hell | +hin | +holiday | +ihn | +jan | +jealous
-50 +lovely | +meinen | +neighbours | +newsletter | +oat | +order | +prima | +sag | +seinen | +spring | +still
-50 +swimming | +trotzdem | +very | +visitor | +where | +work | +write | +三 | +什 | +们 | +早 | +盒 | +目 | +笑
-50 +肉 | +记 | +轮 | +问 | , christmas | , sagt | , still | , 我 | , 正 | , 花 | = aber | = costs | = next | = put
-50 = this | = what | N bin | N gestern | N gewechselt | N havent | N hospital | N ins | N taken | N und | N yet
-50 ^ $ | ^ aye | ^ danke | ^ mein | ^ pls | ^ theres | ^ 到 | ^ 嗯 | ^ 还 | amazing $ | and has | are N
-50 auf #number | auf N | aye , | basket $ | bleibt = | book | bus | client | clock | crying | dads | dann | dark
-50 dinner | do not | door | fasting | for this | fürs | get | grand | havent | he was | hes not | home now
-50 hour from | ice | ich bin | ich hab | in by | instead of | jealous | jugend | kettle | kollegin | law | liked
-50 long | lost #amount | me to | meinen | move the | next | nimmt jetzt | not moving | of a | oh sure | on it
-50 once , | one of | only have | paragraph | people | seconds | she said | sich jetzt | sister | sister had
-50 so we | sold out | steh | stove | stuck | thanks , | thats it | the N | the pipe | the stove | the website
-50 theres | this = | threw | twins | two , | und = | up coffee | vergessen , | visitor | von | vor = | was in
-50 we = | weiß | who | wie | wk $ | work | yet | you | zum N | ≈ N | ≈ and | ≈ as | ≈ with | ≈ 了 | ≠ is | ≡ 说
-50 今 晚 | 他 | 住 了 | 准 | 发 了 | 可 | 同 学 | 后 过 | 嗯 | 在 ≠ | 工 位 | 店 休 | 我 带 | 我 要 | 推 荐
-50 改 跑 | 柳 | 比 | 洗 | 的 不 | 着 了 | 知 | 给 #titled | 老 公 | 荐 | 该 | 课 | 谢 谢 | 车 险 | 这 ≡ | 道 | 雨
-45 #amount about | +agency | +apixaban | +ask | +ate | +beside | +bit | +boxes | +can | +darf | +diese | +draußen
-45 +dry | +einem | +gekauft | +ging | +hair | +halb | +hand | +handy | +heil | +ice | +inzwischen | +july | +just
-45 +kettle | +kollegin | +ladies | +leave | +liked | +mach | +mal | +marrow | +mein | +morgen | +noch | +ob
-45 +refund | +schule | +shame | +should | +suggest | +suit | +tears | +telly | +thanks | +tim | +well | +were
-45 +yeah | +übrigens | +七 | +乌 | +发 | +取 | +吴 | +总 | +松 | +染 | +独 | +着 | +碗 | +胎 | +脱 | +荐 | +道
-45 +铺 | +闺 | +顺 | , does | , is | , poor | , shame | , suggest | , tues | , vet | , was | , 全 | , 别 | , 明
-45 , 给 | = #date | = at | = auch | = down | = grad | = her | = ich | = mate | = nachbar | = only | = unverändert
-45 N hamster | N is | N mehr | N not | N ≈ | ^ at | ^ mums | ^ whats | ^ 续 | ^ 那 | a wedding | ach | allianz
-45 am #number | an N | and N | and leave | and say | another = | anyway | arbeite | are going | are not | as ever
-45 as well | auch noch | auf #amount | aus | ausnahmsweise | back as | before i | by ≠ | calls | came on | clean ,
-45 closed , | crowd went | daughter | day ≈ | down | einem | einen | flats | folder | for | friend | from a | fun
-45 für die | getting a | got | got there | has ≠ | hat heute | hell | hes | heute die | home #days | home 都
-45 i liked | ihre | in = | is #amount | is now | jetzt um | kitchen , | kommen | ladies | lang | leaves | lessons
-45 lessons are | let me | lights | list | lovely , | make it | meine | meint | moved its | myself $ | nachbar
-45 need a | never have | next week | noch nicht | not me | number | october , | oliven | on my | paper | partys
-45 poor | remind | sat | seine = | service | shame | shame , | she has | sich = | since ≈ | soll | spare | stood
-45 suggest | super | super , | swapped to | team | tears | that N | the #number | the sofa | this once | this ≡
-45 tho | tmrw | took N | und jetzt | up #daypart | vom N | whats the | which | while | wie immer | wk | wo | yes
-45 zum | ≠ in | ≠ 去 | 不 再 | 不 学 | 乘 | 位 了 | 像 | 写 成 | 剩 ≈ | 加 | 半 | 友 的 | 发 | 句 | 吃 | 周
-45 在 管 | 多 少 | 存 | 室 | 家 = | 就 = | 工 钱 | 带 了 | 庆 | 搬 去 | 明 | 的 店 | 第 | 管 账 | 要 ≠ | 订 了
-45 试 | 账 了 | 账 的 | 跑 | 过 年 | 进 去 | 那 家 | 锁
-40 #amount seit | #amount 八 | +a | +abend | +bett | +bullet | +butter | +chef | +cousins | +cream | +crying
-40 +dark | +daughter | +fail | +fast | +folder | +het | +hühner | +job | +kinder | +kita | +kitchen | +limit
-40 +meint | +nachbar | +namen | +neujahr | +next | +o | +painted | +paket | +partys | +pipe | +poor | +rain
-40 +rather | +remind | +shook | +something | +stehen | +table | +thing | +tickets | +tonight | +von | +wann
-40 +weiß | +wenn | +which | +while | +wk | +wo | +≡ | +么 | +乘 | +准 | +吃 | +吧 | +哭 | +多 | +套 | +当 | +数
-40 +比 | +游 | +社 | +谈 | +财 | +辆 | +这 | +那 | +门 | +饭 | , can | , day | , from | , looks | , mines
-40 , thanks | , whats | , 医 | , 啊 | , 烦 | , 直 | , 车 | = also | = didnt | = friend | = gezogen | = isnt | = it
-40 = job | = 再 | = 号 | = 吃 | = 家 | ? ? | N daughter | N to | N vor | N zu | ^ #days | ^ almost | ^ hes | ^ ja
-40 ^ jo | ^ lovely | ^ nearly | ^ schreib | ^ that | ^ when | ^ ya | ^ 发 | ^ 听 | ^ 咖 | ^ 好 | ^ 收 | ^ 行
-40 ^ 项 | after N | and put | and went | answer | apartment | ask me | asked | aunt | beim | beside = | between
-40 bis #days | black | braucht | but no | called | cat | costs | cream | dabei , | damit | dazu $ | die N
-40 diese woche | dishwasher | done $ | fail | favourite | first , | fits | fürs = | ganz | gave him | gehört $
-40 gone up | grad im | grand , | guy , | had his | has come | have a | hedge | heil | his = | home , | i still
-40 ice cream | ihm | ill , | immer #days | immer , | in so | instead $ | into = | is an | is fine | is it
-40 is very | its for | ja , | jo | junge , | just moved | k $ | kettle on | know | last time | leute | list $
-40 look | minus | mir = | mornings | move to | moved here | much for | my desk | ne = | nen | new people
-40 not today | of me | of my | of us | on as | our | out on | out the | paid , | paket | paying | per | put back
-40 remind me | she is | shed | sisters | so ask | sonst | staging | steam | still on | stuck in | swap | swim
-40 taxi | than | that in | that the | the newsletter | the tickets | this time | tickets | tiles $ | to = | to all
-40 to my | to see | today $ | toners | tonight $ | twice | um ≠ | und wir | von N | was cancelled | weekend | wem
-40 what do | why | wifi | wir den | with his | xmas | ya | yet , | zimmer | zusätzlich | zweiten | ~ to | ~ ≠
-40 ~ 上 | ~ 了 | übrigens | ≈ already | ≈ off | ≠ with | 一 句 | 下 周 | 下 那 | 专 | 习 | 代 | 休 了 | 候 | 共
-40 别 叫 | 到 #amount | 卡 | 另 外 | 只 剩 | 咋 | 啊 不 | 天 补 | 媳 | 媳 妇 | 帮 我 | 店 的 | 得 我 | 成 #time
-40 成 ≠ | 手 , | 收 到 | 文 | 新 闻 | 是 | 来 = | 椅 | 死 我 | 油 | 点 $ | 烧 | 球 $ | 疼 | 英 | 蜜 | 补 | 记 一
-40 请 假 | 课 挪 | 走 得 | 车 了 | 车 牌 | 还 | 醒 | 险 今 | 面 | 馆
-35 #amount ! | #amount came | #amount instead | #amount left | #amount on | #amount 二 | #amount 没 | #daypart 那
-35 #days is | #days 了 | #number with | #time 打 | #titled retired | +#amount | +abgemeldet | +alleine | +anyway
-35 +apparently | +aunt | +aus | +ausm | +autofahren | +away | +bacon | +badly | +bahn | +before | +best
-35 +birthday | +bits | +bruder | +bude | +bunk | +calls | +cold | +comes | +config | +confirm | +cottage | +diesen
-35 +einmalig | +eye | +ffs | +flats | +for | +fortnight | +fragen | +frist | +fwd | +für | +gefunden | +gehängt
-35 +gig | +given | +gran | +gute | +haare | +heathrow | +ihre | +ill | +inspector | +jabs | +lamb | +lass
-35 +lights | +mornings | +neighbour | +number | +opa | +or | +phone | +prod | +sat | +schluss | +seat | +sechs
-35 +see | +sitz | +slide | +sogar | +solange | +soll | +staging | +steh | +story | +suchen | +ta | +teacher
-35 +toners | +travel | +unter | +village | +wants | +waren | +xmas | +ya | +yet | +zusätzlich | +习 | +共 | +出
-35 +受 | +句 | +另 | +墨 | +师 | +庆 | +开 | +把 | +报 | +搭 | +椅 | +欢 | +猫 | +英 | +薪 | +表 | +该 | +请 | +谢
-35 +赶 | +边 | +通 | +避 | +额 | +龟 | , any | , chucked | , crowd | , dann | , god | , how | , ist | , keep
-35 , love | , lovely | , next | , ours | , remind | , tears | , told | , write | , 他 | , 客 | , 总 | = angerufen
-35 = auf | = braucht | = does | = insurance | = right | = steht | = vom | = 照 | N lost | N sind | N so | N wurde
-35 N yesterday | ^ bumped | ^ haha | ^ im | ^ it | ^ mach | ^ nephew | ^ sag | ^ this | ^ write | ^ yep | ^ 五
-35 ^ 带 | ^ 朋 | ^ 没 | ^ 表 | a chair | across | ah | alle ≈ | along | and #number | and made | anderen
-35 as always | as before | auch keinen | back ≠ | been ≠ | bis #number | biscuits | bits | bleibt bei | bother
-35 branch | brauch | bringt | but | cancelled , | cant come | change | charges #number | cheers | chucked the
-35 cleaner | come back | concert | config | confirm | corsa | cron to | da und | das N | dave | days N | dazu
-35 dem N | die ≠ | diesen | diesmal | doesnt | dream | eine | einmalig | either | electric , | eltern
-35 endlich raus | ersten N | even | every weekday | fallen | file | finished the | flying | frag | fragen | frames
-35 frei | freundin | from #days | garage , | gestrichen | gets the | gig | go ! | go on | goal | god $ | haare
-35 haben $ | haben N | halle | halt | has #amount | have #amount | have the | he | headings | hill | him the
-35 home 个 | home 手 | home 用 | hätten | i asked | i put | ich $ | ich da | ich schon | ihre = | inspector
-35 insurance is | is | isnt ≡ | jabs | jeden #days | jetzt bleibt | jetzt zusätzlich | just got | kann | keinen N
-35 kidding | klar | klar , | know , | krankgeschrieben | kumpel | left at | line | länger | mad $ | mail | mama
-35 mate | may | minutes | mir ne | mock | moon | my wife | nach = | names | never been | new , | new place | nix $
-35 no ≈ | nur die | oder $ | off and | office , | oil | old = | on #number | on him | on tues | others | out my
-35 parents | party is | partys on | pay us | plot | plus | pull | pump | pump , | rang to | raus $ | ready
-35 recipe | replaced the | rest $ | rosary | sagt der | schon = | sechs | see it | seen | sent | show | sleep
-35 so $ | sofa | solange | some | somebody | something | sonnenbrille | sorry | spaß | starting | story | suchen
-35 surname is | ta , | thank god | the bit | the board | the company | the config | the cousins | the day
-35 the moon | the oil | the pool | there $ | this week | til #days | time since | to have | to know | to last
-35 to normal | to paper | too so | trinkgeld | umzug | up at | up for | up my | us all | usual | vertritt
-35 vertritt ihn | video | vielleicht | wanted | wants to | war da | was on | weekday | well at | went well
-35 when she | where | where the | wifes | windows | wir sind | with ≠ | won #number | yaml | yep | you know
-35 zu den | zu ≈ | zweite | ~ in | ≈ # | ≈ last | ≈ was | ≠ s | ≠ today | ≠ 起 | ≡ #amount | ≡ is | 一 共 | 不 通
-35 也 = | 也 没 | 习 生 | 你 说 | 儿 子 | 到 #days | 剩 半 | 加 了 | 动 车 | 区 ≠ | 卓 | 又 不 | 又 挂 | 双 | 叫
-35 吃 上 | 同 | 同 事 | 后 来 | 吧 | 哭 了 | 墨 | 姨 | 学 我 | 学 费 | 安 卓 | 实 习 | 客 人 | 小 = | 小 区
-35 就 这 | 差 点 | 带 = | 店 里 | 慕 | 成 # | 我 看 | 报 告 | 拉 的 | 挂 | 推 迟 | 改 用 | 时 候 | 服 | 案 | 梯
-35 添 了 | 烤 | 王 | 班 | 球 | 电 了 | 电 梯 | 的 ~ | 直 接 | 睡 着 | 科 目 | 站 | 纸 | 线 | 续 , | 羡 | 羡 慕
-35 英 语 | 菜 | 补 了 | 讲 | 说 不 | 跑 到 | 还 剩 | 那 年 | 里 | 饭 了
-30 #days only | #number , | #number since | +age | +allianz | +along | +apotheke | +ausnahmsweise
-30 +ausrufezeichen | +berlin | +box | +dabei | +das | +diesmal | +es | +even | +family | +favourite | +feiertag
-30 +file | +form | +gefreut | +gekündigt | +halle | +hamster | +havent | +heard | +hedge | +kidding | +krieg
-30 +kurze | +legs | +minus | +minutes | +most | +nineties | +nochmal | +others | +pool | +privat | +pump | +redet
-30 +rosary | +seine | +service | +single | +strong | +tank | +tenner | +thesis | +tmrw | +trainer | +vertritt
-30 +weekend | +welt | +wifes | +wifi | +years | +候 | +哈 | +姨 | +存 | +实 | +庄 | +慕 | +案 | +礼 | +羡 | +调
-30 +贴 | +近 | , best | , like | , please | , print | , third | , 好 | = $ | = ? | = ab | = before | = broke
-30 = but | = changed | = downstairs | = ein | = in | = kollegin | = mich | = new | = tonight | = ~ | = 送
-30 N #number | N go | N nach | N nehme | N noch | ^ am | ^ and | ^ for | ^ frau | ^ für | ^ one | ^ order | ^ tell
-30 ^ und | about ≈ | ages | alten N | always | am | and got | app | arent | asking | at most | at ≈ | aus N
-30 ausrufezeichen | beers | bestanden , | better $ | bits $ | both , | bought the | butter $ | by me | came to
-30 chain | chips | cron | customer | cut off | decided $ | den einen | den namen | der N | der neue | die #number
-30 die haben | dritten | eigentlich | emil | ersten | ever , | exam | feiertag | feiertag $ | fetch | fine by
-30 first paragraph | four $ | fragt | from = | gefunden | gelegt | gesagt , | geworden | give | glad | go back
-30 green for | has to | hat alles | hat mir | hat schon | have put | herrlich | heut #number | him already
-30 home 我 | i pulled | ich grad | im ≈ | in bits | in den | in it | in that | into yaml | is that | its mot
-30 junge | keep it | kind | krieg | kriegt jetzt | laden | late , | lemon | lieber | like you | longer | mate N
-30 me #amount | me this | mehr $ | mehr da | mir bitte | mir noch | mot | muss | muss ich | my sisters | new chain
-30 nicht , | nineties | nur = | off him | office to | ohne die | outside the | passed his | pay | pension day
-30 phone | put those | redet | runs , | sagen | saw | says $ | schön | seit der | selber | senior | server
-30 sie die | sod $ | sofa , | sourdough | stays with | still , | stuff $ | taken off | the #date | the #time
-30 the baby | the doctor | the flat | the mortgage | the nineties | the stand | the thesis | theirs | thesis
-30 third go | tho , | thx | title of | to fly | to take | told N | twice , | we have | week with | well for | wer
-30 wg | wife $ | will | wir doch | with ≈ | won the | zu mir | ~ ! | ≠ bei | 一 #daypart | 一 场 | 也 开 | 了 十
-30 了 后 | 了 新 | 他 的 | 他 说 | 价 $ | 元 | 全 家 | 到 # | 到 #date | 到 = | 去 = | 又 | 又 添 | 右 | 号 $ | 吗
-30 听 说 | 在 转 | 女 婿 | 她 | 婿 | 学 那 | 客 户 | 寄 | 帮 | 批 | 换 | 搬 到 | 旅 | 是 不 | 来 只 | 样 的
-30 椅 子 | 楼 下 | 毛 | 琴 课 | 用 戴 | 画 | 的 钢 | 磨 | 红 | 胎 | 能 吃 | 要 是 | 豆 | 跳 | 这 一 | 速 | 邮 | 钟
-30 镜 | 问 | 闺 蜜 | 题 | 骑 | 骑 电
30 ! #date | #amount #amount | #amount down | #amount 来 | #amount 线 | #date 三 | #days ! | #days $ | #days ≈
30 #titled the | +bowl | +brief | +büro | +centre | +closing | +cos | +dentist | +des | +e | +eigene | +elternzeit
30 +extra | +eyes | +far | +finishing | +gehabt | +geist | +grad | +hold | +keep | +keys | +liest | +miles | +mine
30 +n | +nehmen | +nimmt | +offen | +peace | +places | +rise | +shorter | +silke | +sod | +spelling | +stays
30 +upped | +verlängerung | +washing | +week | +winter | +丑 | +加 | +原 | +呢 | +四 | +废 | +必 | +戴 | +抖 | +林
30 +毕 | +活 | +窗 | +糖 | +谁 | +须 | , a | , cancelled | , done | , full | , good | , jonnos | , meine | , peace
30 , permanently | , von | , 又 | , 只 | = zum | = 刚 | = 毕 | = 空 | N its | N up | ^ alarms | ^ drei | ^ erst
30 ^ first | ^ gone | ^ kp | ^ neither | ^ nope | ^ nö | ^ physio | ^ squared | a y | a ≈ | abbestellt
30 about #number | account | age , | already | alto | always has | and run | any = | approved | are ≈ | asking $
30 at my | badge and | because ≡ | believe , | bloß | bought a | breakfast | broke up | budgie | büro | calendar $
30 carers | changed her | come in | daheim | daheim $ | das = | deleted $ | did , | die stunde | docs | dorf
30 dritte | ende | erste N | eyes , | feb | finally , | finally out | firm in | fit | football | for me
30 forward to | ganze | geh | get her | giffgaff | giffgaff , | gone in | good $ | got her | got me | grad
30 had that | hall is | hammer , | handed back | hat sie | hers $ | his ticket | home | home back | home hear
30 home 妈 | home 改 | home 晚 | home 清 | home 走 | honest | hotel , | i have | ich doch | ich nur | in N | in as
30 in feb | in her | in ≠ | inzwischen ≈ | is $ | is da | is too | it ! | its the | ive a | ja eh | jahr | jonnos
30 kp | like the | lovely man | mass | meine nichte | mi | migration | mitnehmen | moped | my own | new #number
30 nichte | nope | nowt | nö | nö , | oat | of it | of ~ | offen , | oh and | on = | on earlies | on reception
30 out when | own bed | passed = | permanent $ | playing | put her | pünktlich | raus , | reception | renumbered
30 retired | right beside | ruhig , | school , | she , | ship | sind ≈ | smell of | sold the | son | sparen
30 split | squared | squared up | stay $ | sweating | switched off | tbh | tell him | the damp | the post
30 the smell | the vets | the weekly | them for | to giffgaff | too much | tüv | und hab | up w | visit $
30 von #amount | walked | was always | was lovely | was too | watch | we went | week $ | went back | went with
30 what she | when we | white | yesterday | zahlt ja | zehn | ~ 换 | ≈ for | ≈ since | ≠ an | 一 屋 | 万 五
30 三 餐 | 上 了 | 也 还 | 了 家 | 了 昨 | 人 | 任 了 | 会 计 | 你 少 | 儿 媳 | 刚 | 劳 | 十 五 | 印 | 去 外
30 发 话 | 取 | 只 | 右 边 | 在 人 | 头 上 | 女 | 妇 生 | 姓 章 | 小 班 | 延 | 成 = | 我 又 | 我 那 | 戒 了
30 才 对 | 招 | 拼 | 接 | 推 到 | 摘 | 撕 | 改 签 | 改 过 | 早 | 是 二 | 晨 | 束 了 | 泳 | 生 | 真 好 | 窝 $
30 老 有 | 老 板 | 联 | 请 了 | 转 | 辣 | 退 订 | 送 人 | 通 了 | 都 涨 | 高 | 高 了
35 # $ | # is | # since | #amount then | #date , | #date 过 | #days s | #days 那 | #phone $ | #titled hat | +ab
35 +amt | +anything | +axa | +bekommen | +binned | +brought | +buy | +contacts | +council | +cuts | +daheim
35 +dairy | +department | +ditched | +dreh | +driving | +drove | +eleven | +father | +flat | +freie | +funeral
35 +gone | +ham | +heron | +hm | +hour | +immer | +insurers | +kp | +künftig | +landlord | +letzten | +lot
35 +längst | +mittag | +moans | +must | +neither | +never | +nicht | +nie | +off | +operation | +parcel | +pop
35 +pretty | +project | +properly | +raised | +rest | +run | +school | +sepp | +shares | +sich | +stuff | +stunde
35 +tape | +these | +third | +times | +uhr | +upstairs | +verein | +vorbei | +voted | +water | +went | +wieder
35 +业 | +儿 | +刨 | +喽 | +固 | +山 | +平 | +应 | +弃 | +彻 | +心 | +戒 | +指 | +换 | +撕 | +收 | +整 | +日 | +术
35 +村 | +每 | +泳 | +算 | +粉 | +给 | +缺 | +走 | +超 | +跟 | +车 | +辩 | +陪 | +验 | , asked | , customers
35 , dont | , house | , ive | , last | , lifes | , ohne | , sie | , staying | , unbefristet | , zu | , 不 | , 两
35 , 日 | , 电 | , 红 | , 鞋 | = allergy | = asked | = aus | = gestern | = gibt | = instead | = machen | = macht
35 = never | = on | = passed | = wrong | = 了 | N bought | N came | N doing | N i | N never | N no | N only
35 N with | ^ clean | ^ den | ^ doc | ^ fox | ^ had | ^ offer | ^ prima | ^ venue | ^ we | ^ 乐 | ^ 她 | ^ 脚
35 ^ 错 | ^ 队 | a great | a job | abgeholt | actually | after , | am i | and at | and ~ | anymore , | asked her
35 auch , | baby | baum | be buried | been on | before $ | bei N | being | big = | bin ich | bio | bitte ,
35 boss wants | bossing | btw | bus $ | bust | by N | by hand | called off | can | caved | charity , | chef
35 church $ | closed | correction | dairy | days | design | die hochzeit | dinners | doctors | donor
35 downstairs , | dumped | egal | egal , | einfacher | einschläfern | einschläfern lassen | end , | engineer
35 er hat | every #amount | exactly what | falschen | feb and | finish | first $ | found | früh = | fwd | ganze N
35 gave it | geschrieben | gestrichen , | get lost | geändert | geändert , | girls | gives | gone into | got a
35 got my | grandmother | gumtree | hab heute | hab nur | hall $ | hard | has dropped | hat am | hat sich | hate
35 hes got | het | him at | hingeschmissen | hof | home N | home 屋 | home 工 | home 旁 | home 李 | home 束
35 home 派 | home 的 | hotel | husband $ | i take | i told | i used | ideas | in #days | in all | insta
35 instead now | it by | it to | it turns | its place | itself | jeden | jeden tag | jetzt N | just ≈ | kann mich
35 kitchen $ | kitchen table | klinik | know $ | lad | laid | lamb $ | language | last session | left after | lent
35 lent , | lifes | lifes too | lol , | macht jetz | made | man says | maternity leave | mattress | mentor
35 mine $ | mine to | mit #amount | mit #number | mit = | mitnehmen $ | moans | more #days | morning !
35 mother and | music | my N | my niece | nach #amount | nacht | nah = | name | nei | never | new husband
35 nicked the | nineteen | not in | note for | notice and | november | now god | nudeln | of pickles | official
35 ohne | on N | on a | on maternity | on the | once a | orthodontist | other name | other time
35 other value of this line alone | over and | person now | photo | pickles | plug | point , | pretty | prima
35 prima , | pulled the | pushed back | put this | range | release = | rules | runs $ | runtergesetzt | sale
35 sang for | say that | second hand | seitdem | set for | short , | sick | sie heut | signed it | since lent
35 since yesterday | skip the | slid | so quiet | so well | sports | spätschicht | st | stehen | stunde $ | sub
35 sugar | tag , | ten | term $ | the beach | the bowling | the drawer | the kitchen | the nursery | the scan
35 the surgery | the top | the whole | them to | then the | theos | these days | they pay | theyre doing
35 theyve given | through | thurs $ | till the | time #amount | tiny | to a | to love | too short | took the
35 traded | traded it | tram | trial | tues | tues $ | uni | up = | up again | us | us , | us down | us to | v
35 vegan since | verlängert | von gestern | w | was after | weekends | went bust | went out | went under
35 weve got | white , | wir es | with this | wrecked | wrecked my | wrong $ | york | you my | zahl ich | zen
35 zu = | zugesagt | zur | ~ | ~ it | ≈ a | ≈ hated | ≈ is | ≈ 没 | ≠ because | ≠ same | ≠ 打 | ≡ , | ≡ to | ≡ 那
35 一 中 | 一 直 | 七 十 | 上 个 | 下 的 | 不 带 | 两 个 | 个 = | 也 停 | 了 = | 了 客 | 了 师 | 了 手 | 五 了
35 人 了 | 人 喊 | 从 这 | 伴 | 伴 的 | 你 一 | 做 | 做 好 | 停 , | 充 | 充 电 | 光 , | 全 | 八 了 | 六 了 | 别 了
35 功 | 包 进 | 去 了 | 又 看 | 反 了 | 口 | 吃 沙 | 员 | 和 好 | 啃 | 四 千 | 夫 | 头 喽 | 女 友 | 她 现 | 娃
35 子 | 子 了 | 字 | 字 $ | 学 了 | 完 , | 小 温 | 已 经 | 弄 错 | 心 $ | 必 | 我 姓 | 我 戴 | 我 爸 | 手 续
35 换 = | 推 光 | 提 到 | 提 的 | 搬 | 新 | 旁 边 | 旧 , | 是 #titled | 是 = | 更 正 | 样 $ | 沙 | 没 完 | 沾
35 涨 了 | 游 泳 | 灰 | 生 说 | 白 的 | 盖 又 | 看 了 | 签 | 给 | 给 大 | 续 先 | 考 完 | 胡 | 脆 | 苗 | 药
35 装 好 | 订 票 | 调 了 | 走 了 | 身 体 | 过 的 | 还 给 | 退 了 | 通 | 那 份 | 里 的 | 长 了 | 面 了 | 领 证
35 鱼 全 | 黑 的
40 ! = | ! im | #amount an | #amount last | #days , | #days im | #phone | #titled $ | +#titled | +abgegeben
40 +abgeholt | +address | +ade | +aufgehört | +aufzug | +balcony | +baum | +bonfire | +bread | +café | +car
40 +caved | +could | +cut | +deleted | +den | +docs | +doing | +durch | +eating | +eh | +else | +end | +extension
40 +finger | +fuchs | +funny | +geschrieben | +gumtree | +hard | +hate | +hiding | +hinten | +hol | +hotel
40 +lasted | +lates | +leider | +les | +loaf | +members | +money | +müssen | +nachbarin | +new | +niece | +nun
40 +oben | +october | +open | +pets | +plug | +plumbed | +poster | +preis | +pünktlich | +r | +sad | +scanner
40 +slid | +stall | +star | +stellplatz | +study | +sub | +talk | +twelves | +until | +unverändert | +up | +van
40 +yr | +万 | +个 | +休 | +保 | +倒 | +到 | +劝 | +医 | +卖 | +厂 | +台 | +吉 | +唉 | +士 | +复 | +太 | +嫂 | +嫌
40 +布 | +延 | +往 | +房 | +招 | +本 | +柜 | +法 | +由 | +电 | +盖 | +肾 | +重 | +闭 | , boss | , brother | , dem
40 , doctors | , frechheit | , havent | , macht | , oat | , streaming | , uncle | , yes | , 凉 | , 如 | , 手
40 , 换 | , 教 | , 清 | = #amount | = , | = any | = last | = moved | = mum | = now | = one | = r | = zahlt | = 三
40 = 去 | = 妈 | = 摘 | = 散 | N last | N nehmen | ^ all | ^ boiler | ^ da | ^ das | ^ dead | ^ funny | ^ mir
40 ^ neue | ^ shes | ^ took | ^ with | ^ 改 | a change | a flat | a thing | acht | all of | an = | an iphone
40 and thats | ankle | any longer | apixaban | are done | as my | ask , | at christmas | aufgehört , | back clear
40 back on | back with | bacon roll | badge | balcony | banging | be for | beautiful | because | begraben | beides
40 bekommen , | board | breakfast $ | but hes | but ≈ | call me | came down | cancel | changed to | chapel
40 chapel , | chucked | clear , | couple | cross | danke , | das zu | den alten | der kita | die nimmt | die ≈
40 died | do all | doc says | doing | done and | dort | dried | drin | drin , | dritte N | einen = | elbow $
40 email | erledigt | everywhere | extended | face | fags | februar | feels | feels amazing | flat , | flies $
40 flights | for everything | forward | frechheit | frechheit $ | from now | früh | funeral was | gave the
40 german | gets | girl | girl , | girls go | gleich die | go | gruppe | gute | habe ich | hall | hand , | handed
40 hat grad | haus | have changed | heads | her at | her last | her on | her ~ | here ! | heut nacht | him $
40 him an | him on | his second | home flat | home moved | home 读 | home 这 | home 静 | i came | i resigned
40 ich auf | ihn im | im büro | in both | in einer | into ≈ | is cancelled | ist | ist leider | ist vorbei | it is
40 it on | it wrong | ive come | keller | klingt wie | kommt jetzt | lass | lassen | leave so | left
40 little white | lot for | love = | machen | make that | makes | me | measured | mehr | mehr , | members
40 members , | mid | muss jetzt | my elbow | my grandmother | my new | n | nen neuen | neu $ | never was
40 new number | new rules | next in | nicht = | nichts , | nimmer , | no im | no need | not the | number ≠ | nun =
40 nursery | of them | off = | ours for | out over | over | parking | people keep | permanent | permanently
40 pilates | plug on | plumbed in | potatoes | potatoes $ | pulling | pushed to | put to | rauf | raus und
40 read it | remortgaged | resigned | resigned from | retired , | review | room for | ruhig | scanner
40 scrapped the | she came | shell | shipped | short | sick of | signature | so N | so ≠ | sober | sogar | still ≡
40 streaming | strom | swapped the | tag | taken the | tennis | the agency | the chapel | the fags | the laser
40 the normal | the plug | there , | there since | they changed | think its | thru | till #number | to #number
40 to another | to kill | to let | to october | to work | took ≈ | trim | tup | two $ | umgestellt $ | und
40 und is | use | verkauft und | vo | vom tisch | vorsitz | votes | w a | walk to | want #amount | was never
40 washing | week , | went | won $ | wrong about | wurde | year #number | year , | you ask | you keep | zwar
40 zweimal | ~ at | ~ no | über N | über die | übergeben | ≈ more | ≠ = | ≠ it | ≠ not | ≠ 就 | ≡ 回 | 上 周
40 上 班 | 不 做 | 不 用 | 为 | 也 跟 | 了 以 | 了 没 | 今 | 从 今 | 依 | 俩 | 倒 | 刘 | 刚 来 | 到 三 | 到 手
40 剩 我 | 南 | 厂 里 | 口 了 | 司 | 吉 | 头 | 女 儿 | 妈 , | 始 | 子 吃 | 学 期 | 局 | 带 孙 | 年 ≠ | 店 员 | 建
40 开 始 | 弟 | 弟 那 | 往 | 往 后 | 快 #amount | 挪 去 | 换 了 | 操 | 操 场 | 早 章 | 是 洁 | 来 了 | 楼 的
40 泳 , | 洁 | 洁 , | 现 在 | 空 | 立 早 | 第 ≠ | 考 了 | 耳 | 脚 | 血 证 | 说 ≡ | 跑 了 | 跟 着 | 路 了 | 躺
40 车 , | 辞 | 配 | 错 了 | 闲 | 队 里 | 降 压 | 香
45 ! ! | ! #time | ! did | #amount due | #amount the | #amount today | #amount was | #time # | +abbestellt
45 +altogether | +baby | +booked | +brilliant | +btw | +canal | +chucked | +dort | +email | +everywhere | +farm
45 +football | +human | +ideas | +kein | +korrektur | +lad | +lease | +luck | +measured | +much | +neu | +neuer
45 +nudeln | +person | +rauf | +reversed | +right | +shell | +shop | +so | +sorry | +starts | +stop | +strom
45 +tbh | +thurs | +ticket | +traded | +transfer | +turns | +watch | +weds | +worden | +wrecked | +übernommen
45 +乐 | +住 | +傅 | +张 | +意 | +断 | +热 | +留 | +练 | +苗 | +迁 | , arm | , been | , bitte | , could | , ein
45 , endlich | , hard | , number | , sind | , wird | , 从 | , 身 | = ! | = aufgehört | = closed | = dont | = gets
45 = have | = its | = ne | = shut | = 以 | = 提 | = 搬 | ? not | N aus | N beim | N called | N gave | N haben
45 N has | N this | ^ die | ^ dug | ^ from | ^ hospital | ^ jenkins | ^ last | ^ left | ^ prod | ^ seit | ^ sold
45 ^ to | ^ 妹 | ^ 教 | ^ 高 | a big | a trim | ab jetzt | abgesagt | abgesetzt | als | altogether , | and all
45 and gone | ankle , | anna | arm | at all | ate the | aufgehört | back today | bank , | bekommen | belly
45 beside N | bit the | books , | bought | brief | brought forward | bruder , | bub | came back | came for | cash
45 charges ≈ | christmas , | clean | delivered | dem vermieter | den #number | dentist , | die halbe | done with
45 drawer | driver | dug the | early , | egg | ein junges | every time | everything | family | finish at | fire $
45 first | flooded so | for charity | for ≈ | fwd to | für ≈ | gallery | geb | geld | gestern #amount | gewechselt
45 gewechselt $ | gives me | gleich | god rest | gone on | got #number | got too | gus | h | hab | habe die
45 halbe | hall , | has ended | has given | helix | her , | him , | hips | his bank | hob i | home #number
45 home here | home love | home 来 | home 睡 | hour , | i get | in der | in march | in year | ins | is on
45 it alone | it so | its N | jenkins | jetzt $ | jetzt meine | junges | junges paar | kid | kill | komplett
45 korrektur | l | lager | laser | last night | lease | left , | lot | married | married on | me onto
45 mittlerweile | monat | month $ | naturally | new | new line | night | not a | nurse | nurse $ | nursery run
45 nursing | on till | only do | only ≠ | op | outgrown | own , | paar | permanently , | pick up | place ,
45 pregnant | quit the | raised | ran out | research | rid | rid of | rooms | samples | schlaf ich | schwester $
45 she says | signed the | sind jetzt | sister in | snag | stands | stays where | sticks | straight on | studio
45 summer , | surgeon | surgeons | that = | the meeting | the title | the under | the ≠ | theyve put | those
45 to pick | to what | took all | took my | und statt | unpacked | up , | use = | venue flooded | vermieter
45 voted | war mir | we changed | whole | wie gehabt | with #titled | with an | would you | year is | young
45 überall | ≈ 八 | ≠ as | 不 考 | 买 = | 了 别 | 伙 | 停 | 停 了 | 分 了 | 剩 | 咯 | 回 $ | 在 南 | 应 了 | 彻
45 彻 底 | 徒 | 徒 弟 | 我 #amount | 我 们 | 我 搬 | 打 了 | 拜 | 掉 了 | 提 了 | 昆 | 昨 | 月 搬 | 来 电
45 歇 #amount | 献 | 献 血 | 生 , | 百 $ | 的 ! | 的 手 | 管 = | 老 太 | 胃 | 舅 舅 | 装 | 豪 | 返 | 门 口 | 高 考
50 #amount kommt | #days night | #titled 说 | +#phone | +after | +ago | +alles | +aufgegeben | +because | +being
50 +belly | +bungalow | +couldnt | +couple | +died | +ended | +extended | +fahre | +finally | +gewechselt
50 +giffgaff | +gls | +h | +halbe | +hat | +have | +its | +laid | +left | +lent | +love | +misread | +nacht
50 +naturally | +need | +nicked | +orders | +outgrown | +parking | +pulling | +rein | +remortgaged | +round
50 +rules | +runtergesetzt | +ship | +trial | +verschoben | +we | +weekends | +weeks | +zahl | +伤 | +压 | +夫
50 +女 | +户 | +拼 | +摘 | +死 | +狗 | +被 | +西 | , | , butter | , going | , home | , i | , just | , moved
50 , neighbours | , never | , rain | , saves | , sod | , surgeons | , will | , 推 | = abgesetzt | = fine
50 = handed | = kit | = off | = starts | = thing | = 上 | = 都 | ? = | N again | N allergic | N baby | N dentist
50 ^ been | ^ closed | ^ gave | ^ guess | ^ only | ^ weißt | ^ wir | ^ you | a $ | a balcony | a kid | a peanut
50 abgebrochen | abgesagt , | abnahme | again on | alarms | all mine | alle = | altogether | and im | augen
50 because we | been , | beko | both of | came through | captain | card , | cash , | das nicht | dem | die letzten
50 died on | doch | doesnt = | eating | emigrated | endgültig | er = | ever again | every | fainted | fete
50 fine , | first night | football $ | for asking | for it | full time | fully | gardening | gekündigt ,
50 going back | gone , | good till | green , | guys | heard alone | heart | him down | home 单 | home 好 | home 州
50 home 沙 | home 边 | home 近 | hr | i muddled | ideas for | into | is so | it any | jetzt bei | jetzt die
50 jetzt ≈ | job | kauf | land | last #amount | letzten | machen wir | me ever | mit der | muddled | myself
50 name and | nicked | nie | no point | none | nope gave | not be | now the | only on | own | peanut | pool ,
50 quit , | registry | registry office | rein = | retirement | review , | salary | saves | says = | says ≈ | scan
50 schon $ | sept | sept , | sich auf | sofort | split up | still | teeth | the course | the drive | the other
50 the summer | this month | to be | to quarter | tut | und bei | versetzt | vorbei | w = | we swapped | weißt
50 whole week | wieder jeden | wird | worden | year and | you believe | zu viel | zum ≈ | ~ #days | ~ #number
50 ≈ und | ≠ at | ≠ 也 | 下 #days | 了 | 了 现 | 交 给 | 何 | 剩 #amount | 加 到 | 区 #date | 号 没 | 啃 苹
50 啥 都 | 四 | 在 大 | 外 婆 | 太 太 | 如 今 | 子 一 | 对 面 | 就 在 | 己 带 | 带 饭 | 改 ≠ | 散 了 | 期 =
50 机 号 | 欣 | 现 | 的 还 | 省 | 票 | 让 人 | 让 给 | 证 | 说 啥 | 调 到 | 退
55 # = | #amount day | #time ! | #titled 给 | +april | +arm | +board | +boys | +bust | +captain | +correction
55 +day | +doctor | +ende | +fainted | +feb | +fourth | +got | +hips | +mehr | +mir | +mittlerweile | +muddled
55 +nein | +notice | +november | +nowt | +nö | +over | +peanut | +podcast | +pregnant | +rent | +scrapped
55 +sports | +squared | +uni | +used | +zu | +zwar | +上 | +中 | +八 | +刚 | +只 | +国 | +奶 | +掉 | +改 | +新
55 +更 | +空 | +自 | +退 | +送 | , we | , were | , ~ | = #number | = #time | = n | = today | = 八 | = 卖 | = 涨
55 = 的 | N btw | N can | N der | ^ came | ^ day | ^ nicht | ^ nobody | ^ switched | ^ ≈ | ^ 不 | ^ 调 | abgegeben
55 again , | all $ | and use | baby $ | be put | been our | bei mir | bought , | bring | btw $ | chocolate
55 closed the | comes | coming $ | discharged | em | empty $ | endlich | facilities | flooded | free | from home
55 für immer | go to | h , | ha no | haben wir | has stopped | hat angerufen | hat mich | hated | home and
55 home keys | home month | home out | hundert | hundert N | i lost | in november | ist auch | its just | keine =
55 land , | lehre | managers | meeting , | mind | money | moved from | mum says | my son | nach | neuen
55 new address | now | on me | own place | papier | pension , | plumbed | presents | prod | schon am | scrap $
55 she was | sie | signed off | six $ | so please | stairlift | taken | term | that my | the gallery
55 the shoulder | the stairlift | the train | these | to come | twenty | twenty , | two | up in | upgraded | van ,
55 velvet | verschiebt | viel $ | waage | weekly | well now | wieder = | with #number | worked | worked ,
55 writing | zehn $ | ≈ days | ≈ left | ≈ mit | ≈ without | ≈ 的 | ≈ 那 | 也 不 | 了 不 | 以 后 | 公 司 | 出 | 受
55 台 | 归 | 招 牌 | 没 动 | 清 | 盖 | 老 头
60 #amount from | #days and | #time from | +erst | +fair | +flights | +iphone | +january | +jetzt | +kid | +letter
60 +name | +neun | +resigned | +said | +sold | +split | +studio | +weekly | +wir | +writing | +何 | +充 | +刘
60 +北 | +场 | +拉 | +散 | +生 | +省 | +脚 | +装 | +钱 | +闲 | , bought | , by | , bye | , cut | , hab | , mums
60 , 家 | , 老 | = after | = and | = finally | = for | = is | = test | = war | = will | = wird | = 是 | = 转
60 N call | N here | N moved | N note | N put | ^ bring | ^ docs | ^ garage | ^ got | ^ on | ^ theyre | ^ two
60 ^ 别 | a = | a young | alone | alter | am #days | and my | and the | back at | beats | beer | bleibt | brauche
60 buried | by the | call , | canaries | card | charge | come again | d | day #amount | deleted | der hat | dug
60 eyes | finished | fox | from ≠ | funeral | gave | geschieden | gone | gone to | good to | got the | habe | ham
60 has put | has taken | home 到 | house is | im a | iphone | is ≠ | isnt = | jetzt | kommt dann | können | laufen
60 laut | left in | legs | legs , | lost ≈ | maternity | mich mal | mind $ | mit | more = | my brother | on #days
60 onto | other date | piece | point | received | seit N | sheet | single | so that | started | summer | tausend
60 the driver | the fete | the managers | they , | this year | told you | turns out | venue | von den | walked ,
60 was the | were | were N | wrong , | zahl | ~ are | ≈ hour | ≈ today | ≡ now | 一 个 | 别 再 | 厂 | 啦 | 喽
60 天 起 | 害 | 挪 | 提 | 散 | 轻
65 #amount a | #number #number | +abgesagt | +aufgelöst | +bleiben | +clear | +cleared | +erledigt | +front
65 +gibts | +heart | +jetz | +makes | +nach | +nurse | +nursing | +piece | +pushed | +sale | +samples | +scan
65 +schwester | +shifted | +sign | +tag | +turned | +umgestellt | +vermieter | +weve | +without | +吐 | +大 | +搞
65 +涨 | +酒 | , #titled | , bin | , feels | , his | = as | = gone | = hat | = turned | = up | = 回 | = 改
65 N back | N live | N next | ^ me | ab | alle #amount | bad | bei der | bestanden | bestanden und | both =
65 bring it | bye = | confession | das | deck | e | find ich | forget | gar | ha | hated the | his sister
65 home last | home 无 | i write | internet | is as | ist raus | job in | kommt | landlords | lead | mal , | man ,
65 meetings | moved out | new = | new schedule | nie wieder | noch ≈ | old for | opened | own #amount | pb
65 put it | quit | said yes | schedule | shifted | shut for | since the | so the | that , | the bank | the old
65 too old | trailers | use they | walk | was wrong | we talk | yes $ | youtube | ≈ erhöht | ≈ instead | ≈ seit
65 啦 , | 回 | 我 = | 搞 | 断 | 睡 | 黑
70 #number now | +from | +jacked | +komplett | +last | +lead | +myself | +owner | +replaced | +rooms | +shut
70 +swapped | +verkauft | +verlängert | +warn | +wurde | +全 | +撤 | +米 | , also | , im | , 分 | , 外 | = are
70 = doch | = his | = name | = packed | = und | = walked | N for | N please | ^ er | ^ ha | ^ theyve | als N
70 anymore $ | be N | bungalow | bye | cancelled = | cleared | den ≈ | did it | down , | empty | fifty | gekündigt
70 haben | hand | have had | hour ago | i $ | i are | immer | is in | it = | it up | jacked in | mad , | malte
70 month = | nach dem | no = | only #amount | other phone | our = | ours | out , | owner | pulled | pushed | scrap
70 sein N | several | sie hat | sind | so he | teacher | the books | the extra | the music | theyve | till next
70 und #amount | with = | ~ yes | ≈ $ | 二 = | 后 ≠ | 新 = | 碰
75 ! ≈ | # with | #amount again | #amount already | #amount 三 | #number a | +N | +bad | +cancel | +done | +down
75 +endlich | +fifty | +handed | +hundred | +月 | +班 | +舅 | , got | , nicht | = haben | = retired | N on
75 ^ binned | ^ jacked | ^ moved | ^ nach | ^ ne | ^ new | ^ passed | ^ went | and he | banned | bin jetzt
75 brother | call | damp | die ~ | doing = | falsch | had the | hundred | i want | is the | it all | jetzt bis
75 new name | nimmt | no ~ | off to | on ≈ | put me | says i | shop with | since | so = | the bungalow | to ≠
75 veggie | weds | weh | year | 也 | 今 年 | 撤
80 +#time | +auf | +both | +dried | +gave | +now | +proper | +retired | +东 | = back | = doesnt | = to | = went
80 = 从 | = 我 | = 被 | = 那 | after that | and i | and only | auf ≈ | back to | bescheid | both | dem =
80 gestorben | gestorben , | going | home 间 | i = | in charge | in on | little N | main , | money $ | my =
80 placement | rest | shoulder | with a | ziel | ~ bleibt | ≡ 了 | 碰 $ | 都
85 +# | +em | +good | +hated | = out | = 也 | ^ # | a month | a piece | and = | auf den | home 多 | in , | left =
85 off , | over , | overbooked | overbooked , | says no | so its | so thats | um $ | wieder , | ≈ | 下 来 | 后 =
85 让
90 #amount early | +out | +since | +stopped | +term | +位 | +字 | +白 | +转 | = mehr | = started | = wurde | >3
90 ab heute | better , | bleiben | given | home 租 | ich jetzt | inzwischen | ja ~ | mein = | müssen | no more
90 upped | weder | ≈ she
95 ! | +bye | +enough | +lost | +more | +schedule | = has | = weg | = 让 | ^ 是 | came | die = | found a
95 haben den | home finally | künftig | most | the wife | y | ~ ok | ≠ from
100 #amount #number | +dropped | +instead | +moved | +not | +switched | +wrong | +员 | = bin | = go | = habe | = 退
100 ^ back | auf ≠ | der | finally | home in | of message | other value | replaced = | thieves | ≠ | ≠ since | 起
105 = 昨 | N have | binned | cancelled | der ≈ | heard | immer ≠ | jetz | not ≡ | seit | what i
110 +cancelled | +passed | = kommt | from today | nothing | the = | to #time
115 +changed | = | contracts | from here | longer = | nach der | replaced
120 +dont | = altogether | anymore | for good
125 +anymore | +了 | = hab | dropped =
130 +啦 | ^ = | bin | down to
135 +weg | ^ ≡ | from this | not = | ≈ =
145 as of | signed | this morning
155 +habe | swapped =
160 all #amount
170 home 搬
175 share
205 nur noch
210 = ist
240 heard lead
"""
"""In hundredths of a log-odds, each before the features that have it."""
