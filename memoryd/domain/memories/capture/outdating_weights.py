"""The weights by which a message outdates a line, as `make eval-corrections ARGS=--fit` finds them."""

TABLE = """
-675 *
-185 = bleibt | = still
-165 = 没
-155 +>26 | still =
-145 ^ in
-140 no ,
-135 one
-130 = from | = says | is no
-125 = stays | ^ yes
-120 ? | nearly
-115 +getauscht | +passt | on ≠ | then | ≡ $
-110 was ≠
-105 +ihr | , then | = ok | if | said $ | 点 | 要
-100 +aber | +nearly | +walk | +≠ | +睡 | = 换 | i cant | is not | jetzt auch | 是 ≠
-95 +bald | +bitte | +clock | +fürs | +night | +立 | , der | = 又 | ? $ | i went | ja | moved the | moving
-95 switched the
-90 #days now | +about | +fox | +heut | +ok | , back | N you | it was | keine N | move | on #amount | only ,
-90 tomorrow | was at
-85 #time | +again | +found | +make | +other | +sie | +theres | +um | +持 | = sich | = sister | ^ meine | ^ put
-85 ^ 对 | a second | and back | back again | dass | he says | so no | unheard | ≈ ≈ | ≡ = | 客
-80 +#daypart | +bring | +moving | +s | +sein | +wrote | +血 | , nothing | = same | ^ good | ^ 这 | almost | am ≠
-80 closed on | didnt | gestern ≈ | haha | ihren | over the | sure
-75 ! i | #amount 那 | #days from | +almost | +amazing | +black | +burned | +chair | +didnt | +looks | +move | +say
-75 +schreib | +sure | +unten | +vom | +would | +year | +挂 | +章 | = called | = clock | N off | ^ 数 | all ≈
-75 at ≠ | before | braces | got = | her $ | how | its #amount | juniper | last year | läuft | might | morgen | not
-75 to pay | ~ N | ~ was | 个 | 写 | 回 = | 想
-70 += | +boss | +great | +if | +late | +live | +plates | +puregym | +sang | +seepferdchen | +sofa | +think
-70 +tomorrow | +website | +yes | +别 | +慢 | +抽 | +这 | = left | = month | = schon | = the | = 做 | >26 | N all
-70 N habe | N ≡ | ^ N | ^ change | ^ my | ^ our | baby , | be in | by | coffee | costs ≈ | dry | for N | for my
-70 from me | here , | keep = | oder | or | raum | same ≈ | switch the | tonight | us $ | von der | wants | ~ and
-70 ≈ an | 个 了 | 壁 | 宝 | 挂 了 | 涨 到
-65 ! ≠ | #number from | #time since | +arme | +bis | +dem | +everything | +froh | +go | +halt | +home | +ins
-65 +keine | +list | +mail | +might | +natürlich | +normal | +oder | +raum | +second | +send | +sister | +sleep
-65 +thought | +vegan | +what | +whos | +她 | +泡 | +知 | +线 | +面 | , zum | , 一 | , 小 | = N | = die | = keeps
-65 = party | = that | N down | ^ #titled | ^ a | and still | basket | betriebsrat | bis | bother with | dabei
-65 fast | gestrichen $ | gut | her | is called | is closed | ja = | month since | nope , | once | online ,
-65 pipe , | this | to go | to move | whats | with the | ~ is | 今 天 | 妇 的 | 数 | 明 天 | 没 人 | 知 道 | 笑
-65 说 | 请 | 隔 壁
-60 #amount at | #number and | #time now | +airport | +august | +braces | +cake | +cheaper | +coffee | +coming
-60 +crowd | +dass | +flu | +follow | +ganz | +id | +l | +loft | +münchen | +own | +print | +remember | +then
-60 +vote | +wird | +事 | +吃 | +告 | +啊 | +宝 | +客 | +然 | +爸 | +能 | +花 | +记 | +许 | +过 | , thats | , what
-60 , 就 | = me | N are | ^ the | ^ ~ | a vote | add | all over | always = | auf = | aye | been put | best | crowd
-60 down for | flu | got flu | have = | ich am | in #number | jetzt #number | late | nix | not mine | not ~ | ob
-60 order | partner | print | robbery $ | sag | says hes | second = | slipped | so ne | spring , | stopped the
-60 switch | the same | today , | too , | very | war | week | went up | zimmer , | ≈ morning | ≈ 三 | 了 我 | 修 好
-60 几 | 大 宝 | 宝 , | 快 | 我 还 | 是 大 | 的 | 目 | 第 #amount | 谢
-55 #number | +add | +aye | +basket | +beide | +brown | +change | +d | +dann | +earlier | +ein | +ever | +face
-55 +fahr | +full | +grand | +ihn | +laden | +long | +lucky | +man | +nice | +past | +please | +rained | +signed
-55 +slipped | +switch | +thank | +top | +trotzdem | +zimmer | +≡ | +千 | +同 | +壁 | +安 | +带 | +帮 | +打 | +无
-55 +检 | +让 | +都 | , of | , says | , theyre | , 没 | = lol | = mother | = of | = time | = wants | = 长
-55 N hospital | N sold | N we | ^ mein | ^ right | ^ thanks | ^ 到 | ^ 小 | ^ 知 | ^ 隔 | a new | all = | all day
-55 all good | angeblich | at work | auf die | burned | cold | come , | cousins | crying | diese | drüben
-55 for october | four | full , | gesagt | hamster | has died | holiday | i changed | in from | is back | is my
-55 it this | its an | just | lift $ | mal | meinen | meiner | need #amount | newsletter | no longer | noch
-55 of course | of his | party | pipe | rained | school | seinen | since ≡ | sold it | sure , | ta | taken up
-55 tell | test | thanks | threw | til | wann | well | wenn | what | when | wieviel | year ≈ | years | ≈ and | ≠ #
-55 ≠ early | ≠ is | ≠ night | ≡ ≈ | 上 = | 主 | 了 记 | 会 | 公 | 别 的 | 周 末 | 在 ≠ | 定 | 对 , | 改 到 | 柳
-55 步 | 盒 | 课
-50 #amount since | #days as | #days auf | +across | +allein | +angeblich | +asking | +ate | +bleib | +book | +can
-50 +chase | +darf | +diese | +einfaches | +friend | +fährt | +gar | +gekauft | +große | +guess | +gut | +halb
-50 +hand | +hell | +hin | +holiday | +jan | +leave | +mach | +meinen | +mo | +morgen | +neighbours | +newsletter
-50 +ob | +order | +partner | +prima | +sag | +schon | +seinen | +still | +swimming | +visitor | +vor | +well
-50 +where | +work | +write | +三 | +多 | +想 | +早 | +盒 | +着 | +笑 | +粥 | +肉 | +问 | +顺 | , christmas
-50 , sagt | , still | , 我 | , 正 | , 花 | = aber | = costs | = next | = put | = this | = what | N = | N gestern
-50 N gewechselt | N ins | N und | ^ $ | ^ aye | ^ danke | ^ theres | ^ 嗯 | ^ 把 | ^ 还 | amazing $ | are N
-50 as well | auf #number | auf N | basket $ | bleibt = | book | bus | clean , | client | clock | dads | dinner
-50 do not | door | for this | für = | fürs | get | grand | havent | he was | hour from | ich bin | ich hab | in by
-50 instead of | is now | jealous | jugend | kitchen , | kollegin | lang | law | liked | lindenstraße | long
-50 lost #amount | lovely , | move the | moved its | next | nimmt jetzt | normal $ | not moving | of a | oh sure
-50 on it | only have | paragraph | people | schreib | seconds | send | she said | sich jetzt | sister | sister had
-50 so we | sold out | soll | steh | stove | stuck | thanks , | thats it | the N | the pipe | the stove
-50 the website | theres | this = | twins | two , | und = | up coffee | visitor | von | von = | vor = | was in
-50 weiß | who | wie | wk $ | work | yet | you | zum N | ≈ as | ≈ with | ≈ 了 | ≡ 说 | 他 | 位 了 | 住 了 | 准
-50 发 了 | 可 | 同 学 | 后 过 | 嗯 | 好 | 室 | 工 位 | 店 休 | 我 带 | 推 荐 | 改 跑 | 明 | 比 | 的 不 | 的 那
-50 着 了 | 知 | 给 #titled | 老 公 | 老 婆 | 荐 | 行 | 该 | 谢 谢 | 费 | 车 险 | 这 ≡ | 雨
-45 #amount about | #amount 八 | +apixaban | +ask | +beside | +bett | +bit | +boxes | +colleague | +draußen | +dry
-45 +drüben | +ging | +hair | +handy | +heil | +het | +hühner | +ice | +inzwischen | +jealous | +july | +kettle
-45 +kinder | +kitchen | +kollegin | +ladies | +liked | +lovely | +mal | +marrow | +mein | +namen | +neujahr
-45 +noch | +oat | +painted | +pipe | +rain | +schule | +shame | +should | +spring | +suggest | +suit | +tears
-45 +telly | +tonight | +very | +were | +which | +yeah | +übrigens | +七 | +乌 | +什 | +取 | +吴 | +总 | +松 | +染
-45 +目 | +碗 | +社 | +胎 | +脱 | +荐 | +谈 | +财 | +轮 | +近 | +铺 | +闺 | , does | , is | , shame | , suggest
-45 , thanks | , tues | , vet | , 医 | , 明 | , 给 | = at | = auch | = down | = grad | = her | = ich | = nachbar
-45 = unverändert | N bin | N hamster | N havent | N mehr | N not | N taken | N vor | N yet | N ≈ | ^ at | ^ hes
-45 ^ mums | ^ pls | ^ whats | ^ 收 | ^ 续 | ^ 那 | a wedding | ach | allianz | am #number | an N | and N | and has
-45 and leave | and say | another = | anyway | apartment | arbeite | are going | as ever | auch noch | auf #amount
-45 aus | ausnahmsweise | aye , | beside = | calls | came on | closed , | crowd went | dann | dark | daughter
-45 day ≈ | diese woche | down | einen | fasting | flats | folder | for | friend | fun | für die | getting a | got
-45 has come | has ≠ | hat heute | heard most | hell | hes | hes not | ice | ihre | into = | is fine | kettle
-45 kommen | ladies | leaves | lessons | lessons are | let me | lights | list | make it | me to | meine | myself $
-45 nachbar | never have | next week | noch nicht | not me | number | of us | on my | once , | one of | partys
-45 poor | remind | sat | seine = | service | shame | shame , | sich = | since ≈ | spare | suggest | super
-45 super , | team | tears | that N | the #number | the sofa | this once | this ≡ | today $ | took N | und jetzt
-45 vergessen , | vom N | we = | what do | whats the | which | while | wie immer | wk | wo | zum | ≈ N | ≠ in
-45 ≠ 去 | 乘 | 今 晚 | 像 | 写 成 | 剩 ≈ | 加 | 半 | 友 的 | 句 | 周 | 啊 | 多 少 | 存 | 家 = | 就 = | 工 钱
-45 带 了 | 庆 | 我 要 | 搬 去 | 收 到 | 洗 | 的 店 | 英 | 要 ≠ | 订 了 | 试 | 跑 | 过 年 | 进 去 | 道 | 那 家 | 面
-40 #amount seit | +a | +abend | +abgemeldet | +agency | +aus | +bacon | +bruder | +bullet | +butter | +cream
-40 +crying | +dark | +diesen | +einem | +fail | +fast | +folder | +gute | +job | +just | +kita | +lass | +meint
-40 +mornings | +nachbar | +next | +o | +paket | +partys | +poor | +rather | +refund | +remind | +shook | +sitz
-40 +solange | +soll | +something | +stehen | +ta | +teacher | +thanks | +thing | +tickets | +von | +wann | +weiß
-40 +while | +wk | +乘 | +们 | +准 | +发 | +吧 | +哭 | +套 | +数 | +欢 | +比 | +独 | +薪 | +赶 | +道 | +额 | , can
-40 , chucked | , day | , looks | , mines | , poor | , told | , was | , whats | , 他 | , 全 | , 别 | , 啊 | , 烦
-40 , 直 | , 车 | = #date | = also | = didnt | = gezogen | = job | = mate | = only | = 再 | = 号 | ? ? | N is
-40 N to | N zu | ^ #days | ^ ja | ^ jo | ^ nearly | ^ schreib | ^ that | ^ when | ^ yep | ^ 发 | ^ 听 | ^ 咖
-40 ^ 好 | ^ 行 | ^ 项 | and put | and went | answer | are not | ask me | asked | aunt | back as | before i | beim
-40 between | black | but no | by ≠ | called | cat | chucked the | costs | cream | dabei , | damit | dazu $ | dem N
-40 die N | diesen | dishwasher | done $ | eine | einem | electric , | every weekday | fail | favourite | first ,
-40 fits | frames | from #days | from a | fürs = | ganz | gave him | gehört $ | go ! | gone up | got there
-40 grad im | grand , | have a | hedge | heil | heute die | his = | i liked | ice cream | ill , | immer #days
-40 immer , | in = | inspector | instead $ | is #amount | is an | is it | its for | ja , | jabs | jeden #days
-40 jetzt um | jo | junge , | just moved | k $ | kettle on | last time | leute | look | may | meint | minus | mir =
-40 mornings | move to | moved here | my desk | nach = | ne = | need a | nen | new people | not today | october ,
-40 of me | of my | oliven | on as | our | out my | paid , | paket | paper | partys on | paying | per | put back
-40 remind me | she has | she is | shed | sisters | so ask | solange | some | something | sonst | staging
-40 starting | steam | still on | stood | stuck in | swap | swapped to | swim | taxi | than | that in | that the
-40 the newsletter | the tickets | this time | tho | tickets | tiles $ | tmrw | to = | to all | to my | toners
-40 tonight $ | twice | um ≠ | und wir | up #daypart | von N | was cancelled | weekday | weekend | wem | where
-40 why | wifi | wir den | with his | xmas | ya | yep | yes | yet , | zimmer | zusätzlich | zweiten | ~ to | ~ ≠
-40 ~ 上 | ~ 了 | übrigens | ≈ already | ≈ off | ≠ with | 一 句 | 下 周 | 下 那 | 不 再 | 不 学 | 专 | 习 | 了 ≈
-40 代 | 休 了 | 候 | 共 | 别 叫 | 到 #amount | 卡 | 发 | 只 剩 | 同 | 咋 | 啊 不 | 在 管 | 天 补 | 媳 | 媳 妇
-40 小 区 | 帮 我 | 店 的 | 得 我 | 成 #time | 手 , | 文 | 是 | 案 | 死 我 | 油 | 点 $ | 烧 | 球 $ | 疼 | 站 | 第
-40 管 账 | 续 , | 菜 | 蜜 | 补 | 记 一 | 请 假 | 课 挪 | 账 了 | 账 的 | 走 得 | 车 了 | 还 | 这 | 醒 | 里 | 锁
-40 险 今 | 馆
-35 #amount ! | #amount came | #amount instead | #amount left | #amount on | #amount 二 | #amount 没 | #number ,
-35 #number with | #time 打 | #titled retired | +#amount | +>16 | +age | +alleine | +anyway | +apotheke
-35 +apparently | +aunt | +ausm | +ausnahmsweise | +autofahren | +away | +badly | +bahn | +before | +best
-35 +birthday | +bits | +bored | +bunk | +calls | +chef | +cold | +comes | +confirm | +cottage | +cousins | +das
-35 +daughter | +diesmal | +favourite | +ffs | +flats | +for | +fortnight | +fragen | +frist | +fwd | +für
-35 +gefreut | +gefunden | +gehängt | +gekündigt | +gig | +given | +gran | +haare | +hamster | +heard | +ihre
-35 +ill | +inspector | +jabs | +kids | +kurze | +lamb | +lassen | +lights | +limit | +minus | +neighbour
-35 +nochmal | +number | +opa | +or | +privat | +prod | +pump | +schluss | +see | +single | +slide | +sogar
-35 +staging | +statt | +steh | +story | +suchen | +tank | +tenner | +this | +toners | +trainer | +travel | +unter
-35 +vertritt | +village | +wants | +waren | +wenn | +wifi | +wo | +xmas | +ya | +yet | +zusätzlich | +么 | +习
-35 +候 | +共 | +受 | +句 | +另 | +存 | +工 | +师 | +庆 | +开 | +当 | +报 | +推 | +游 | +猫 | +租 | +英 | +表 | +该
-35 +请 | +调 | +谢 | +辆 | +边 | +那 | +门 | +饭 | +龟 | , any | , dann | , from | , god | , how | , ist | , love
-35 , lovely | , next | , ours | , remind | , tears | , third | , write | , 客 | = angerufen | = braucht | = does
-35 = friend | = insurance | = isnt | = it | = steht | = 吃 | = 家 | = 照 | N daughter | N lost | N sind | N so
-35 N went | N wurde | ^ almost | ^ bumped | ^ haha | ^ im | ^ it | ^ lovely | ^ nephew | ^ sag | ^ write | ^ ya
-35 ^ 五 | ^ 朋 | ^ 没 | a chair | across | after N | ah | alle ≈ | along | and #number | app | arent | as always
-35 as before | at most | auch keinen | aus N | been ≠ | beers | better $ | bis #days | bis #number | biscuits
-35 bits | bleibt bei | blue | bother | branch | brauch | braucht | bringt | cancelled , | cant come | chair
-35 change | charges #number | cheers | cleaner | come back | config | confirm | corsa | das N | dave | days N
-35 dazu | den namen | der N | die ≠ | diesmal | doesnt | dream | einmalig | either | eltern | endlich raus
-35 ersten N | even | feiertag | feiertag $ | file | finished the | flying | frag | fragen | fragt | frei
-35 freundin | garage , | gets the | gig | give | go on | goal | god $ | guy , | haare | haben $ | haben N
-35 had his | halle | halt | has #amount | have #amount | have put | he | headings | herrlich | hill | him the
-35 hätten | i asked | i pulled | i put | i still | ich $ | ich ab | ich da | ihm | ihre = | in so | in that
-35 insurance is | is | is very | jetzt bleibt | jetzt zusätzlich | just got | keep it | keinen N | kidding | klar
-35 klar , | know | know , | krankgeschrieben | kumpel | laden | left at | like you | list $ | länger | mad $
-35 mail | mama | mate | me #amount | me a | minutes | mir bitte | mir ne | moon | much for | muss | my wife
-35 nach N | never been | new , | new place | nix $ | no ≈ | nur die | oder $ | off and | office , | oil | old =
-35 on #number | on him | others | out on | out the | parents | party is | pay us | phone | plot | plus | pull
-35 pump | pump , | rang to | raus $ | ready | replaced the | rest $ | sagt der | says $ | schon = | see it | seen
-35 show | sleep | sofa | somebody | sonnenbrille | sorry | spaß | story | suchen | surname is | ta , | thank god
-35 the bit | the board | the company | the cousins | the day | the moon | the oil | the pool | there $ | this week
-35 til #days | time since | to know | to last | to normal | to paper | to see | too so | trinkgeld | umzug | up at
-35 up for | up my | us all | usual | vertritt | vertritt ihn | video | vielleicht | wanted | wants to | war da
-35 was on | way $ | well at | well for | went well | when she | where the | wife $ | wifes | windows | with ≠
-35 won #number | yaml | you wrong | zu den | zu ≈ | zweite | ~ ! | ~ in | ~ now | ~ 不 | ≈ # | ≈ last | ≈ was
-35 ≠ s | ≠ today | ≠ 起 | ≡ #amount | ≡ is | 不 通 | 也 = | 也 没 | 习 生 | 了 新 | 你 说 | 到 #days | 剩 半
-35 加 了 | 动 车 | 区 ≠ | 卓 | 双 | 另 外 | 叫 | 吃 | 吃 上 | 同 事 | 后 来 | 吗 | 吧 | 听 说 | 哭 了 | 墨 | 学 我
-35 学 费 | 学 那 | 安 卓 | 实 习 | 寄 | 小 = | 就 这 | 带 = | 店 里 | 慕 | 成 # | 成 ≠ | 我 看 | 批 | 挂 | 搬 出
-35 改 用 | 新 闻 | 旅 | 时 候 | 服 | 来 = | 梯 | 椅 | 楼 下 | 添 了 | 烤 | 球 | 电 了 | 电 梯 | 的 ~ | 直 接
-35 睡 着 | 科 目 | 线 | 羡 | 羡 慕 | 英 语 | 讲 | 说 不 | 谱 | 跑 到 | 车 牌 | 还 剩 | 这 一 | 那 年 | 飞 | 饭 了
-30 #daypart | #daypart 那 | #days is | #days 了 | #number since | #time to | +along | +ausrufezeichen | +b
-30 +berlin | +config | +dabei | +dads | +danke | +drive | +du | +einmalig | +es | +eye | +feiertag | +file | +fits
-30 +fragt | +geklatscht | +halle | +havent | +hedge | +ihren | +isnt | +kidding | +krieg | +legs | +lifes | +lunch
-30 +mama | +may | +minutes | +most | +music | +nineties | +others | +potatoes | +ready | +renting | +rosary | +sat
-30 +seat | +sechs | +service | +sisters | +table | +tim | +tmrw | +weekend | +welt | +whats | +wieviel | +wifes
-30 +years | +~ | +出 | +咋 | +哈 | +墨 | +姨 | +媳 | +实 | +慕 | +搭 | +案 | +羡 | +考 | +贴 | +辣 | +避 | , best
-30 , crowd | , keep | , like | , only | , print | = $ | = ab | = auf | = broke | = changed | = den | = ein
-30 = ihren | = in | = just | = kollegin | = mich | = right | = tonight | = took | = vom | N go | N nach | N nehme
-30 N noch | N yesterday | ^ am | ^ für | ^ mach | ^ order | ^ tell | ^ this | ^ und | ^ 今 | ^ 带 | ^ 老 | ^ 表
-30 about ≈ | account , | ages | alten N | always , | and got | and made | anderen | are on | asking | at ≈
-30 ausrufezeichen | back ≠ | bands | bestanden , | bits $ | both , | but | butter $ | chain | chips | concert
-30 cron to | customer | da und | das macht | den einen | der neue | didnt = | die #number | drei , | dritten
-30 eigentlich | emil | ever , | exam | fallen | first paragraph | four $ | gefunden | gelegt | gelegt , | gesagt ,
-30 gestrichen | glad | go back | green for | große | has to | hat alles | hat mir | hat schon | have the
-30 heut #number | him already | ich grad | ich könnt | ich schon | im ≈ | immer noch | in bits | in den | in it
-30 into yaml | is that | isnt ≡ | its gone | junge | kann | kind | krieg | kriegt jetzt | lieber | line | make
-30 mark | mate N | me $ | me this | meant | mir noch | mock | muss ich | my sisters | namen gabs | names
-30 new chain | nineties | nur = | office to | ohne die | on tues | outside the | passed his | pay | pension day
-30 price | recipe | rosary | runs , | sagen | saw | schön | sechs | seit der | sent | server | sie die | six ,
-30 sod $ | sofa , | sourdough | still , | stuff $ | tests | the #date | the #time | the baby | the config
-30 the mortgage | the nineties | the stand | the thesis | theirs | thesis | third go | thx | title of | to have
-30 to take | tomorrow , | twice , | we have | we pushed | week with | wer | wg | wifes = | wir doch | with ≈
-30 won the | you know | zu mir | ≠ bei | ≠ on | 一 共 | 一 场 | 他 的 | 价 $ | 儿 子 | 全 家 | 到 # | 到 #date
-30 去 = | 又 | 又 不 | 又 挂 | 又 添 | 右 | 号 $ | 味 | 哪 | 回 家 | 在 转 | 场 | 坏 | 女 婿 | 婿 | 客 人 | 客 户
-30 差 点 | 帮 | 您 | 把 | 报 告 | 拉 的 | 挤 | 换 | 搬 到 | 数 学 | 是 不 | 来 只 | 查 | 样 的 | 毛 | 王 | 琴 课
-30 画 | 的 房 | 的 钢 | 磨 | 纸 | 胎 | 能 吃 | 补 了 | 裴 | 要 是 | 让 他 | 让 老 | 豆 | 跳 | 通 $ | 邮 | 钟 | 问
-30 闺 蜜 | 题 | 骑 | 骑 电
30 ! #date | #amount down | #amount this | #amount 线 | #days ≈ | +anything | +blood | +bowl | +cos | +daheim
30 +dreh | +drove | +eigene | +falschen | +far | +finishing | +fish | +hm | +hold | +hot | +jeden | +keep | +kp
30 +letzten | +liest | +main | +mine | +nehmen | +off | +offen | +oh | +operation | +pixel | +rise | +se
30 +shorter | +shoved | +silke | +speak | +teeth | +upstairs | +week | +winter | +you | +丑 | +固 | +应 | +所
30 +找 | +抖 | +收 | +林 | +果 | +毕 | +活 | +窗 | +算 | +缺 | +谁 | +陪 | , #amount | , a | , cancelled | , dont
30 , good | , jonnos | , meine | , peace | , permanently | , 只 | , 得 | , 省 | , 红 | = zum | = 刚 | = 毕 | = 空
30 >6 | N came | N its | N up | N wasnt | N year | ^ alarms | ^ clean | ^ drei | ^ erst | ^ first | ^ little
30 ^ nö | ^ squared | ^ 上 | ^ 出 | ^ 编 | ^ 脚 | abbestellt | about #number | actually | address | already
30 alright | always has | always was | and finish | and run | any = | approved | approves | axa | bald | because ≡
30 big = | bloß | breakfast | bus $ | büro | carers | caved | changed her | come in | dance | design | did ,
30 die stunde | dritte | ende | erste N | ever so | every #amount | eyes , | feb | finally , | for you
30 forward to | ganze | geschrieben | giffgaff | giffgaff , | gone in | grad | had that | hammer | handed back
30 hat keine | hat sie | hate | hingeschmissen und | his ticket | honest | hospital rang | hotel | hotel ,
30 i told | ich doch | ich nur | im monat | in as | in feb | inzwischen ≈ | is good | is too | it turns | ive a
30 ja eh | jahr | jeden tag | jetzt ≠ | jonnos | lad | laid | last | last session | les | lovely man | mass
30 meine nichte | mi | migration | mitnehmen | my N | my job | my own | nach #amount | nichte | nö | nö , | oat
30 of tea | of ~ | off gumtree | oh and | ohne | on , | on N | on at | on reception | opens at | other name
30 passed = | pop | put her | put this | pünktlich | range | raus , | reception | renumbered | right beside
30 room $ | ruhig , | set for | shes had | ship | sind ≈ | smell of | so much | sold the | son | sparen | spell
30 spring | squared | squared up | statt = | stay $ | sugar | sweating | switched off | tbh | tell him | the beach
30 the post | the smell | the vets | the weekly | the whole | them for | to giffgaff | trainer hat | up w
30 visit $ | walked | was always | was too | watch | week $ | went back | were in | what she | with | with him
30 with this | wrong $ | zahlt ja | zehn | ziehen | ~ right | ~ 换 | ≈ for | ≈ is | ≈ on | ≈ since | ≠ same
30 七 十 | 三 餐 | 上 了 | 个 $ | 也 还 | 了 手 | 人 喊 | 以 | 任 了 | 会 计 | 你 少 | 劳 | 去 外 | 发 话 | 只
30 哈 = | 四 千 | 在 人 | 头 上 | 女 | 妇 生 | 字 | 学 | 已 经 | 延 | 弄 错 | 心 $ | 成 = | 我 休 | 我 先 | 我 又
30 我 戴 | 戒 了 | 手 续 | 接 | 推 到 | 摘 | 改 过 | 是 二 | 晨 | 校 旁 | 泳 | 生 | 看 了 | 窝 | 签 | 给 换
30 老 有 | 联 | 肚 | 药 | 请 了 | 起 #amount | 跑 路 | 车 场 | 边 改 | 边 租 | 通 | 通 了 | 都 涨 | 领
35 ! = | # is | # since | #amount then | #amount 来 | #date , | #date 过 | #days $ | #days , | #days s | #days 那
35 #phone | #phone $ | #titled hat | #titled the | +abgegeben | +amt | +axa | +binned | +bonfire | +buy | +centre
35 +closing | +council | +cuts | +dairy | +den | +department | +ditched | +docs | +driving | +dusted | +e | +eh
35 +eleven | +elternzeit | +freie | +funeral | +gehabt | +geschrieben | +ham | +hate | +heron | +hour | +insurers
35 +landlord | +lates | +längst | +mittag | +money | +must | +neither | +never | +new | +nicht | +nie | +niece
35 +nun | +parcel | +pets | +places | +plug | +pop | +project | +raised | +run | +school | +sepp | +sich | +stays
35 +study | +stuff | +stunde | +tape | +these | +third | +times | +uhr | +unverändert | +up | +verein
35 +verlängerung | +vorbei | +voted | +washing | +water | +业 | +两 | +倒 | +刨 | +原 | +呢 | +喽 | +嫌 | +山
35 +废 | +弃 | +彻 | +心 | +戒 | +指 | +换 | +撕 | +有 | +村 | +每 | +水 | +泳 | +粉 | +超 | +趟 | +跟 | +路 | +辩
35 +重 | +验 | , customers | , ive | , last | , macht | , ohne | , sie | , staying | , unbefristet | , uncle
35 , zu | , 不 | , 两 | , 从 | , 如 | , 教 | , 清 | , 鞋 | = #amount | = allergy | = asked | = aus | = gestern
35 = gibt | = instead | = last | = machen | = macht | = never | = on | = passed | = wrong | N bought | N doing
35 N i | N never | N no | N with | ^ da | ^ das | ^ doc | ^ fox | ^ funny | ^ gone | ^ had | ^ mir | ^ neither
35 ^ offer | ^ physio | ^ prima | ^ we | ^ 乐 | ^ 她 | ^ 错 | ^ 队 | a flat | a job | a y | a ≈ | abgeholt
35 after , | all of | am i | and at | and ~ | ankle | anymore , | asked her | asking $ | auch , | aufgehört ,
35 baby | badge | badge and | baum | been on | before $ | bei N | being | believe , | bin ich | bio | bitte ,
35 boss wants | bossing | bought a | btw | bust | but ≈ | by N | by hand | calendar $ | called off | can
35 charity , | church $ | closed | correction | cross | das = | das zu | day | deleted $ | die hochzeit | dinners
35 doctors | downstairs , | dumped | egal | egal , | einschläfern | einschläfern lassen | email | end ,
35 exactly what | falschen | feb and | feels amazing | finish | firm in | fit | for me | found | früh = | fwd
35 ganze N | geh | gestrichen , | gets | geändert | geändert , | girl , | girls | gives | gone into | good $
35 got a | got me | got my | gumtree | hab heute | hab nur | hammer , | hand , | hard | has dropped | hat am
35 hat sich | hers $ | hes got | him an | him at | him on | hingeschmissen | hof | husband $ | i take | i used
35 ideas | im büro | in #days | in N | in all | in ≠ | insta | instead now | is da | it by | it to | its place
35 its the | itself | jeden | jetzt N | jetzt immer | just ≈ | kann mich | keys for | kitchen $ | klinik | know $
35 kommt jetzt | lamb $ | language | left after | lent , | like the | little white | lol , | macht jetz | made
35 man says | maternity leave | mehr , | mid | mine to | mit #amount | mit = | mitnehmen $ | more #days
35 morning ! | mother and | music | my niece | nacht | nah = | name | never | new husband | new number
35 nicked the | nineteen | no im | not in | note for | notice and | nudeln | nun = | of pickles | official | on a
35 on maternity | on the | on ≡ | once a | orthodontist | other time | other value of this line alone | ours for
35 out over | out when | over and | own bed | parking | permanently | person now | photo | pickles | plug
35 point , | pretty | prima | prima , | pulled the | pushed back | release = | rules | runs $ | runtergesetzt
35 same value | sang for | say that | scrapped the | seitdem | shipped | short , | sick | signature | signed it
35 since lent | since yesterday | skip the | so N | so quiet | sober | sogar | split | sports | stehen | still ≡
35 stunde $ | sub | tag , | ten | term $ | the bowling | the damp | the drawer | the kitchen | the nursery
35 the scan | the top | them to | then the | theos | these days | they pay | theyre doing | theyve given | through
35 thru | thurs $ | till the | to a | to let | to love | took the | traded | traded it | tram | trial | tüv | und
35 und hab | uni | up = | up again | us , | us down | us to | v | verlängert | vo | von gestern | want #amount
35 was after | was never | we went | weekends | went bust | went out | weve got | when we | white , | wir es
35 without a | wrecked | wrecked my | wurde | york | you my | zahl ich | zu = | ~ it | über N | ≈ a | ≈ hated
35 ≈ 没 | ≠ an | ≠ because | ≠ 打 | ≡ | ≡ , | ≡ to | 一 中 | 一 直 | 万 五 | 下 的 | 不 带 | 两 个 | 个 = | 也 停
35 了 = | 了 客 | 了 师 | 了 昨 | 了 没 | 五 了 | 从 今 | 从 这 | 伴 的 | 你 一 | 俩 | 倒 | 做 | 做 好 | 停 , | 充
35 充 电 | 光 , | 八 了 | 六 了 | 刘 | 功 | 十 五 | 印 | 去 了 | 反 了 | 口 | 吃 沙 | 员 | 啃 | 夫 | 头 喽 | 女 儿
35 女 友 | 她 现 | 姓 章 | 娃 | 字 $ | 小 温 | 小 班 | 局 | 往 | 必 | 我 爸 | 我 那 | 才 对 | 换 = | 推 光 | 掰
35 掰 了 | 提 到 | 提 的 | 撕 | 新 | 旁 | 旁 边 | 旧 , | 早 | 是 #titled | 是 洁 | 更 正 | 束 了 | 沾 | 洁 ,
35 涨 了 | 游 泳 | 灰 | 现 在 | 生 说 | 白 的 | 盖 又 | 空 | 给 大 | 续 先 | 考 完 | 耳 | 胡 | 脆 | 脚 | 苗
35 装 好 | 订 票 | 调 了 | 走 了 | 身 体 | 躺 | 转 | 辞 | 辣 | 这 学 | 那 份 | 长 了 | 降 压 | 面 了 | 领 证 | 香
35 高 | 高 了 | 鱼 全 | 黑 的
40 ! im | # $ | #amount an | #amount due | #amount last | #days im | #titled $ | +#titled | +abgeholt | +address
40 +ade | +aufgehört | +aufzug | +balcony | +baum | +bread | +brought | +büro | +café | +car | +caved | +chucked
40 +contacts | +could | +cut | +deleted | +doing | +durch | +eating | +else | +end | +extension | +farm | +father
40 +finally | +finger | +fuchs | +gone | +gumtree | +hard | +hat | +hiding | +hinten | +hol | +hotel | +lasted
40 +leider | +les | +lot | +love | +measured | +members | +müssen | +nachbarin | +oben | +october | +open
40 +plumbed | +poster | +preis | +pretty | +properly | +pünktlich | +r | +reversed | +right | +sad | +scanner
40 +shares | +slid | +stall | +star | +stellplatz | +sub | +talk | +tbh | +twelves | +until | +van | +weds | +went
40 +yr | +万 | +休 | +保 | +儿 | +到 | +劝 | +卖 | +厂 | +吉 | +唉 | +士 | +复 | +太 | +嫂 | +平 | +延 | +往 | +房
40 +招 | +整 | +日 | +本 | +术 | +柜 | +法 | +由 | +电 | +肾 | +苗 | +车 | +闭 | , been | , boss | , brother
40 , dem | , doctors | , frechheit | , havent | , house | , lifes | , oat | , streaming | , yes | , 凉 | , 手
40 , 换 | , 日 | = , | = moved | = mum | = one | = r | = zahlt | = 三 | = 了 | = 去 | = 妈 | = 摘 | = 散 | N haben
40 ^ all | ^ boiler | ^ dead | ^ den | ^ die | ^ left | ^ neue | ^ shes | ^ sold | ^ to | ^ venue | ^ with | ^ 改
40 a change | a great | a thing | acht | an = | an iphone | and thats | any longer | apixaban | are done | as my
40 ask , | at christmas | back clear | back on | back today | back with | bacon roll | balcony | banging
40 be buried | be for | beautiful | because | begraben | bekommen , | board | breakfast $ | bruder , | but hes
40 call me | came back | came down | came for | cancel | changed to | chapel | chapel , | christmas , | chucked
40 clear , | couple | danke , | days | delivered | dem vermieter | den alten | der kita | die halbe | die nimmt
40 die ≈ | died | do all | doc says | done and | donor | dort | dried | drin | drin , | dritte N | egg | einen =
40 einfacher | elbow $ | engineer | erledigt | every time | everywhere | extended | face | fags | februar | feels
40 finally out | first $ | flies $ | flights | for everything | frechheit | frechheit $ | from now | früh
40 funeral was | gave it | gave the | get lost | gewechselt $ | girls go | go | gruppe | habe ich | halbe | hall
40 hall $ | handed | happened | has ended | hat grad | haus | have changed | heads | her at | her last | her on
40 her ~ | here ! | het | heut nacht | him $ | his second | i came | i resigned | ich auf | ihn im | in both
40 in der | in einer | is cancelled | ist leider | ist vorbei | it is | it on | it so | it wrong | ive come
40 jenkins | keller | kitchen table | klingt wie | lass | lassen | leave so | left | lent | lifes | lifes too
40 lot for | love = | machen | make that | makes | married | married on | me | measured | mehr | members
40 members , | mentor | mit #number | muss jetzt | my elbow | my new | n | nei | nen neuen | neu $ | never was
40 new rules | next in | nicht = | nichts , | nimmer , | no need | not the | november | now god | number ≠ | nurse
40 nurse $ | nursery | nursery run | of them | off = | only do | op | over | paar | people keep | permanent
40 permanently , | pilates | plug on | plumbed in | potatoes | potatoes $ | pulling | put to | rauf | raus und
40 read it | remortgaged | resigned | resigned from | retired , | review | room for | ruhig | sale | scanner
40 she came | she says | shell | short | sick of | sie heut | slid | so well | so ≠ | spätschicht | st | streaming
40 strom | surgeon | swapped the | tag | taken the | the chapel | the fags | the laser | the meeting | the normal
40 the plug | the surgery | the under | there , | there since | they changed | think its | till #number | tiny
40 to #number | to another | to kill | to october | to work | too short | took all | took ≈ | trim | tues | tues $
40 tup | two $ | umgestellt $ | und is | use | vegan since | verkauft und | vom tisch | vorsitz | votes | w a
40 war mir | washing | went | went under | whole | won $ | wrong about | year #number | year , | you ask
40 you keep | zen | zugesagt | zur | zwar | zweimal | ~ | ~ at | übergeben | ≈ more | ≠ = | ≠ it | ≠ not | ≠ 就
40 ≡ 回 | ≡ 跟 | 上 周 | 上 班 | 不 做 | 为 | 也 跟 | 今 | 伙 | 伴 | 依 | 個 | 停 | 停 了 | 全 | 刚 来 | 到 三
40 到 手 | 剩 | 剩 我 | 包 进 | 南 | 厂 里 | 又 看 | 司 | 吉 | 和 好 | 回 $ | 在 南 | 多 $ | 头 | 妈 , | 始 | 嫂
40 子 吃 | 学 了 | 学 期 | 年 ≠ | 店 员 | 建 | 开 始 | 弟 | 弟 那 | 彻 | 彻 底 | 往 后 | 快 #amount | 我 姓
40 挪 去 | 换 了 | 掉 了 | 提 了 | 操 | 操 场 | 早 章 | 昨 | 是 = | 来 了 | 样 $ | 楼 的 | 没 完 | 泳 , | 洁 | 献
40 田 | 的 手 | 窝 $ | 立 早 | 第 ≠ | 给 | 老 太 | 考 了 | 舅 舅 | 血 证 | 说 ≡ | 跟 着 | 路 了 | 车 , | 过 的
40 退 了 | 配 | 里 的 | 错 了 | 闲
45 ! #time | ! did | #amount the | #amount today | #amount was | #days night | #time # | #titled 说 | +abbestellt
45 +ago | +altogether | +aufgegeben | +baby | +because | +booked | +brilliant | +btw | +canal | +died | +dort
45 +email | +ended | +everywhere | +football | +funny | +gls | +halbe | +human | +ideas | +its | +kein
45 +korrektur | +lad | +laid | +lease | +left | +loaf | +luck | +much | +nacht | +neu | +neuer | +nudeln
45 +outgrown | +parking | +person | +rauf | +rein | +round | +shell | +shop | +so | +sorry | +starts | +strom
45 +thurs | +traded | +transfer | +trial | +watch | +we | +übernommen | +乐 | +住 | +傅 | +医 | +压 | +台 | +张
45 +意 | +改 | +断 | +热 | +留 | +盖 | , bitte | , could | , endlich | , hard | , number | , sind | , wird | , 身
45 = ! | = any | = aufgehört | = closed | = gets | = handed | = have | = its | = kit | = ne | = now | = shut
45 = starts | = 提 | = 搬 | ? not | N again | N allergic | N aus | N beim | N called | N dentist | N nehmen
45 N this | ^ been | ^ dug | ^ from | ^ gave | ^ hospital | ^ jenkins | ^ last | ^ seit | ^ took | ^ weißt | ^ 妹
45 ^ 教 | ^ 高 | a big | a trim | ab jetzt | abgesagt | abgesagt , | abgesetzt | als | altogether | altogether ,
45 and all | and gone | and im | ankle , | arm | at all | ate the | aufgehört | bank , | beides | bekommen | belly
45 beside N | bit the | books , | bought | brief | brought forward | bub | card , | cash | charges ≈ | clean
45 den #number | dentist , | died on | doing | done with | drawer | dug the | early , | ein junges | fainted
45 family | finish at | first | flat , | flooded so | for asking | for charity | for it | for ≈ | forward | fwd to
45 für ≈ | gallery | geb | geld | german | gestern #amount | gewechselt | girl | gives me | gleich die | god rest
45 gone on | got #number | green , | gus | gute | h | hab | habe die | has given | helix | her , | him ,
45 him down | hips | his bank | hob i | hour , | i get | in march | in year | ins | into ≈ | is on | ist
45 it alone | it any | its N | jetzt $ | jetzt meine | junges | junges paar | kauf | kid | kill | komplett
45 korrektur | laser | last night | lease | lot | me onto | mittlerweile | monat | month $ | myself | naturally
45 new line | none | not a | on till | one , | only ≠ | outgrown | own , | pick up | place , | pregnant
45 pushed to | quit the | ran out | rein = | research | samples | scan | schlaf ich | schon $ | schwester $
45 signed the | sind jetzt | sister in | stands | stays where | sticks | summer , | surgeons | tennis | the agency
45 the course | the drive | the summer | the title | the ≠ | theyve put | those | to pick | to what | und statt
45 unpacked | up , | use = | venue flooded | vermieter | voted | walk to | we changed | week , | weißt
45 wie gehabt | wird | with an | would you | year is | young | ~ #number | ~ no | über die | überall | ≈ 八 | ≠ as
45 不 用 | 买 = | 了 以 | 了 别 | 人 了 | 分 了 | 口 了 | 号 没 | 咯 | 啥 都 | 四 | 太 太 | 如 今 | 子 一 | 带 孙
45 我 #amount | 我 们 | 打 了 | 拜 | 改 ≠ | 昆 | 歇 #amount | 沙 | 献 血 | 现 | 生 , | 百 $ | 的 ! | 管 = | 装
45 说 啥 | 调 到 | 豪 | 跑 了 | 还 给 | 队 里 | 高 考
50 ! ! | # = | #amount kommt | #titled 给 | +#phone | +after | +being | +belly | +bungalow | +correction
50 +couldnt | +couple | +day | +ende | +extended | +fahre | +fainted | +gewechselt | +giffgaff | +h | +have
50 +jetzt | +lent | +mehr | +mir | +misread | +mittlerweile | +muddled | +need | +nicked | +november | +nowt
50 +orders | +pregnant | +pulling | +remortgaged | +rules | +runtergesetzt | +scrapped | +squared | +stop
50 +ticket | +turns | +verschoben | +weeks | +worden | +wrecked | +zahl | +八 | +刚 | +女 | +布 | +户 | +拼 | +掉
50 +摘 | +新 | +死 | +练 | +迁 | , arm | , butter | , ein | , going | , i | , just | , moved | , neighbours
50 , never | , rain | , saves | , sod | , surgeons | , will | , 推 | = abgesetzt | = dont | = fine | = off
50 = today | = 上 | = 都 | ? = | N baby | N der | N gave | N has | N last | ^ closed | ^ guess | ^ nicht
50 ^ nobody | ^ only | ^ prod | ^ switched | ^ wir | ^ you | ^ 不 | a $ | a balcony | a kid | a peanut | abnahme
50 alarms | all mine | alle = | anna | augen | because we | been , | been our | beko | both of | bring
50 came through | captain | cash , | closed the | die letzten | discharged | doch | doesnt = | driver | eating
50 em | emigrated | endgültig | endlich | ever again | every | everything | fete | fine , | fire $ | first night
50 football $ | full time | fully | gekündigt , | gleich | going back | gone , | good till | got too | grandmother
50 guys | h , | hall , | heart | hr | i muddled | ideas for | into | is so | jetzt bei | jetzt die | jetzt ≈ | job
50 l | lager | land | last #amount | left , | letzten | machen wir | me ever | mit der | muddled | new
50 new #number | nicked | nie | night | no point | nope gave | not be | now the | nursing | only on | peanut
50 pool , | quit , | raised | registry | registry office | review , | rid | rid of | rooms | salary | saves
50 says = | says ≈ | sept | sept , | she was | sich auf | snag | sofort | still | straight on | studio | teeth
50 term | that = | that my | to be | to quarter | took my | und bei | velvet | versetzt | vorbei | w =
50 we swapped | well now | whole week | wieder jeden | with #titled | worden | writing | you believe | zu viel
50 zum ≈ | ~ #days | ≈ und | ≈ without | ≈ 的 | ≠ at | ≠ 也 | 下 #days | 不 考 | 了 现 | 交 给 | 何 | 剩 #amount
50 加 到 | 区 #date | 台 | 啃 苹 | 外 婆 | 对 面 | 就 在 | 己 带 | 带 饭 | 应 了 | 徒 | 徒 弟 | 我 搬 | 散 了
50 期 = | 机 号 | 来 电 | 欣 | 没 动 | 的 还 | 盖 | 省 | 票 | 胃 | 让 人 | 让 给 | 证 | 退 | 门 口
55 #amount day | #days and | +alles | +april | +arm | +board | +boys | +bust | +captain | +doctor | +erst | +feb
55 +fourth | +got | +hips | +name | +naturally | +nein | +notice | +nö | +over | +peanut | +podcast | +rent
55 +ship | +sports | +used | +weekends | +wir | +zu | +上 | +充 | +国 | +夫 | +奶 | +更 | +空 | +自 | +被 | +装
55 +西 | +退 | , we | , were | , ~ | = #number | = #time | = after | = and | = test | = thing | = war | = wird
55 = 八 | = 卖 | = 涨 | = 的 | >3 | N btw | N can | ^ bring | ^ came | ^ day | ^ docs | ^ on | ^ theyre | ^ 别
55 ^ 调 | a = | a young | abgebrochen | abgegeben | again , | again on | all $ | and use | baby $ | be put | beer
55 bei mir | bought , | btw $ | chocolate | comes | coming $ | das nicht | dem | der hat | empty $ | er = | eyes
55 facilities | flooded | free | from home | für immer | gardening | gave | gone | gone to | got the | ha no
55 haben wir | has taken | hat angerufen | hat mich | hundert | hundert N | i lost | im a | in november | ist auch
55 its just | keine = | land , | laufen | lehre | maternity | meeting , | mich mal | mind | money | moved from
55 mum says | my brother | my son | nach | name and | neuen | new address | now | on me | own | papier | pension ,
55 plumbed | point | presents | prod | retirement | six $ | so please | split up | summer | the gallery
55 the other | the shoulder | these | this month | to come | told you | tut | twenty | twenty , | up in | upgraded
55 van , | verschiebt | viel $ | weekly | were | wieder = | with #number | worked | worked , | wrong , | year and
55 zehn $ | ~ are | ≈ days | ≈ left | ≈ mit | ≈ 那 | 一 个 | 也 不 | 了 不 | 以 后 | 公 司 | 出 | 厂 | 受 | 喽
55 在 大 | 招 牌 | 挪 | 提 | 搬 | 老 头 | 轻
60 #amount a | #amount from | #time ! | #time from | +aufgelöst | +bleiben | +clear | +fair | +flights | +gibts
60 +iphone | +january | +jetz | +nach | +neun | +nurse | +pushed | +replaced | +resigned | +said | +shifted
60 +sold | +studio | +tag | +umgestellt | +uni | +weekly | +weve | +writing | +zwar | +中 | +何 | +刘 | +北 | +只
60 +散 | +狗 | +省 | +脚 | +送 | +钱 | +闲 | , #titled | , bought | , by | , bye | , cut | , hab | , home | , mums
60 , 家 | , 老 | = finally | = for | = is | = n | = turned | = will | = 以 | = 是 | N call | N here | N live
60 N moved | N note | N put | ^ garage | ^ got | ^ two | ^ ≈ | alter | am #days | and my | and the | back at
60 beats | brauche | by the | call , | canaries | card | come again | d | day #amount | deck | deleted | dug
60 find ich | finished | fox | from ≠ | funeral | geschieden | go to | good to | habe | has put | has stopped
60 hated | his sister | home and | iphone | is ≠ | isnt = | ist raus | kommt dann | können | laut | left in | legs
60 legs , | lost ≈ | managers | mind $ | my grandmother | noch ≈ | on #days | onto | other date | own place
60 piece | put it | received | schon am | scrap $ | seit N | sheet | sie | signed off | since the | single
60 stairlift | started | taken | tausend | the fete | the stairlift | the train | they , | this year | trailers
60 turns out | two | waage | walked , | was wrong | zahl | ≈ erhöht | ≈ hour | ≈ instead | ≈ today | ≡ now | 别 再
60 天 起 | 归 | 搞 | 散 | 断 | 月 搬 | 清
65 #number #number | +abgesagt | +cleared | +endlich | +erledigt | +heart | +jacked | +kid | +last | +lead
65 +letter | +makes | +myself | +nursing | +piece | +rooms | +sale | +samples | +scan | +schwester | +sign
65 +split | +swapped | +turned | +verkauft | +verlängert | +vermieter | +without | +wurde | +全 | +场 | +拉 | +搞
65 +涨 | +生 | +酒 | , | , bin | , feels | = as | = gone | = name | = up | = walked | = 回 | = 改 | = 转 | N back
65 N for | N next | N please | ^ me | alle #amount | alone | bad | be N | bestanden | bestanden und | bleibt
65 both = | bring it | buried | charge | cleared | confession | das | down , | e | empty | fifty | gar | ha | ham
65 hated the | house is | internet | is as | it up | jacked in | jetzt | job in | kommt | landlords | lead | mad ,
65 mal , | man , | meetings | mit | month = | more = | new = | new schedule | nie wieder | only #amount | opened
65 ours | own #amount | owner | pb | pulled | quit | said yes | schedule | shifted | shut for | so that | so the
65 that , | the bank | the driver | the managers | the old | too old | use they | venue | von den | walk | was the
65 we talk | were N | yes $ | ≈ seit | 了 | 啦 , | 害
70 # with | #number now | +N | +cancel | +from | +front | +handed | +hundred | +komplett | +owner | +shut | +warn
70 +大 | +撤 | +月 | +米 | , also | , his | , im | , nicht | , 分 | , 外 | = are | = doch | = hat | = his
70 = packed | = und | ^ er | ^ ha | ^ jacked | ^ new | ab | als N | anymore $ | bei der | brother | bungalow | bye
70 bye = | cancelled = | den ≈ | doing = | forget | gekündigt | hand | have had | hour ago | hundred | i $ | i are
70 i write | immer | is in | it = | malte | moved out | old for | other phone | our = | out , | pushed | sein N
70 sie hat | sind | so = | so he | teacher | the books | the extra | the music | theyve | till next | und #amount
70 with = | youtube | ~ yes | ≈ $ | 也 | 二 = | 后 ≠ | 啦 | 回 | 我 = | 撤 | 新 = | 睡 | 返 | 都 | 黑
75 ! ≈ | #amount again | #amount already | #amount 三 | #number a | +#time | +auf | +bad | +both | +down | +fifty
75 +now | +班 | , got | = haben | = retired | N on | ^ binned | ^ moved | ^ nach | ^ ne | ^ passed | ^ theyve
75 ^ went | and he | and only | banned | bin jetzt | both | call | damp | did it | die ~ | haben | had the
75 i want | in on | is the | jetzt bis | nach dem | new name | nimmt | no = | no ~ | of message | off to | on ≈
75 put me | says i | scrap | several | since | to ≠ | weds | weh | ≡ 了 | 今 年 | 碰
80 +# | +done | +gave | +retired | +东 | = back | = doesnt | = to | = went | = 我 | and = | and i | auf ≈
80 bescheid | dem = | falsch | gestorben | gestorben , | going | i = | in charge | it all | little N | main ,
80 money $ | my = | placement | rest | says no | shop with | shoulder | the bungalow | veggie | wieder , | with a
80 year | ziel | ~ bleibt | 下 来 | 碰 $
85 #amount early | +dried | +good | +hated | +proper | +since | +term | +位 | +字 | +舅 | = mehr | = out | = 也
85 = 从 | = 被 | = 那 | ^ # | a month | a piece | after that | auf den | back to | better , | bleiben | given
85 in , | over , | overbooked | overbooked , | so its | so thats | um $ | upped | 让
90 +bye | +em | +enough | +lost | +out | +stopped | +白 | +转 | = started | = wurde | ab heute | inzwischen | ja ~
90 left = | mein = | most | müssen | no more | off , | weder | ~ ok | ≈ | ≈ she | 后 =
95 +instead | +more | +moved | +not | +schedule | +switched | = habe | = has | = weg | ^ back | ^ 是 | came
95 haben den | ich jetzt | künftig | the wife | ≠ from | 起
100 ! | #amount #number | +dropped | +passed | +wrong | +员 | = go | = 让 | = 退 | auf ≠ | die = | found a
100 replaced = | y | ≠ since
105 +cancelled | +了 | = bin | = 昨 | N have | binned | cancelled | der | der ≈ | not ≡ | other value | thieves
105 what i | ≠
110 = kommt | contracts | finally | from here | from today | heard | immer ≠ | jetz | seit | the = | to #time
115 +changed | +dont | anymore | for good | longer = | replaced
120 +啦 | = | = altogether | = hab | dropped = | nach der | nothing
125 +anymore | ^ =
130 bin | down to | ≈ =
135 +weg | from this | not =
140 ^ ≡
145 +>3 | signed | this morning
150 as of | swapped =
155 +habe
165 all #amount
175 share
205 nur noch
210 = ist
240 heard lead
"""
"""In hundredths of a log-odds, each before the features that have it."""
