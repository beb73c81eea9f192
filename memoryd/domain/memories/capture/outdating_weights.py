"""The weights by which a message outdates a line, as `make eval-corrections ARGS=--fit` finds them."""

TABLE = """
-670 *
-190 = still
-185 ^ in
-180 = bleibt | still =
-160 = 没
-150 nearly
-145 ?
-140 jetzt auch | no ,
-135 , then | ^ yes
-130 = ok | is no | on ≠
-125 +heut | +passt | +walk | is not | 点
-120 +getauscht | +ihr | = says | so no | then | 客
-115 +nearly | = stays | = 又 | >26 | stuck | ≡ $ | 今 晚
-110 +#daypart | +fox | +fürs | +wrote | = from | ^ good | ^ 对 | am ≠ | haha | i went | if | moving | only ,
-110 was ≠ | ~ N | 要
-105 +bald | +night | +ok | , back | , nothing | ? $ | N you | ^ our | he says | it was | moved the | on #amount
-105 switched the | tomorrow | 明 天 | 烧
-100 #days now | +abend | +aber | +bitte | +black | +theres | +vom | +线 | = called | = sister | N all | ^ change
-100 ^ meine | a new | dass | home #amount | i cant | ja | keine N | last year | move | order | 睡 着
-95 +bring | +great | +make | +sechs | +would | +慢 | +挂 | ^ right | ^ 这 | add | bis | client | dabei | ihren
-95 might | one | sechs | so ne | von der | was at | well | whats | 发 了 | 挂 了 | 笑 | 老 婆 | 蜜
-90 #days from | +about | +burned | +late | +looks | +moving | +other | +sleep | +sofa | +tomorrow | +year | +告
-90 +她 | +持 | = same | = sich | ^ my | almost | at ≠ | be in | before | by | for my | guy , | havent | its an
-90 over the | sure | tell | this | wants | ≈ ≈ | 个 了 | 主 | 得 我 | 快 | 想 | 文 | 是 ≠ | 洗 | 着 了
-85 ! i | #amount 那 | +again | +asking | +bit | +boss | +might | +print | +schreib | +sein | +think | +top | +um
-85 +七 | +同 | +帮 | +睡 | +立 | , what | = month | = next | = of | = 做 | = 换 | ^ 好 | ^ 续 | and back
-85 back again | closed on | costs ≈ | dry | for N | here , | home 我 | law | morgen | once | paragraph | print
-85 spare | that N | the #number | ≡ = | 上 = | 同 学 | 周 末 | 壁 | 带 了 | 数 | 涨 到 | 添 了 | 站 | 说 | 雨
-80 ! ≠ | #time since | +add | +ate | +clock | +gut | +mail | +move | +neighbours | +nice | +puregym | +sie | +sure
-80 +vote | +啊 | +多 | +宝 | +抽 | +胎 | +脱 | , thats | , 他 | , 给 | , 花 | = clock | = die | ^ a | ^ put
-80 a second | always = | auf die | dads | fast | from me | gestern ≈ | has come | her $ | holiday | home to | how
-80 ich am | its #amount | ob | of his | party | stood | switch the | that the | to go | to move | tonight
-80 unheard | vergessen , | very | who | wieviel | ≠ is | 了 我 | 住 了 | 写 | 别 的 | 吗 | 家 = | 就 = | 帮 我
-80 我 还 | 油 | 知 道 | 纸 | 隔 壁
-75 #time | +almost | +chair | +crowd | +dass | +dem | +froh | +ins | +list | +man | +natürlich | +plates | +say
-75 +seepferdchen | +should | +sister | +vegan | +whos | +yeah | +受 | +客 | +章 | +许 | , der | , zum | = left
-75 = schon | = time | N gestern | N ≡ | ^ danke | ^ 听 | are N | bringt | come , | crowd | for this | ganz | give
-75 have the | his = | home 都 | in = | jetzt bleibt | länger | mock | month since | next week | of a | or | paper
-75 people | raum | sag | said $ | sat | second = | slipped | sonnenbrille | thats it | vom N | war | when
-75 wie immer | ~ and | 乘 | 了 记 | 像 | 几 | 同 事 | 后 来 | 在 ≠ | 差 点 | 改 到 | 比 | 磨 | 该 | 请
-70 +cake | +colleague | +coming | +dann | +flu | +follow | +friend | +guess | +holiday | +if | +loft | +long
-70 +partner | +s | +sang | +swimming | +thought | +unten | +very | +website | +≠ | +事 | +带 | +打 | +知 | +笑
-70 +让 | , only | , sagt | , 我 | = at | = 长 | N habe | N off | N und | N zu | ^ #titled | ^ N | ^ the | ^ 带
-70 ^ 知 | a vote | and has | angeblich | at ≈ | auf = | baby , | basket | best | betriebsrat | black | book
-70 bother with | bus | clock | coffee | cold | didnt | down for | einen | even | finished the | flu | from a
-70 gestrichen $ | got = | got flu | gut | hamster | hat heute | home ! | home #days | i changed | ich hab
-70 in from | is closed | need a | nix | noch | not | not mine | oder | online , | partner | robbery $ | says hes
-70 seinen | so we | ta | test | this time | von = | years | yes | ~ was | 下 那 | 了 ≈ | 友 的 | 妇 的 | 死 我
-70 烤 | 给 #titled | 课 | 课 挪 | 这 ≡ | 邮
-65 #amount at | #daypart 那 | #days auf | #number and | +amazing | +arme | +august | +bis | +butter | +found
-65 +full | +fährt | +hair | +halt | +hin | +just | +keine | +l | +lucky | +mach | +please | +raum | +seat | +send
-65 +slipped | +trotzdem | +what | +wird | +三 | +发 | +师 | +泡 | +爸 | +粥 | +肉 | +花 | +道 | +都 | +闺 | +面
-65 , christmas | , is | , of | , write | , 全 | , 就 | , 没 | , 烦 | = isnt | = me | = mother | = party | = that
-65 N down | N we | ^ at | ^ mein | ^ pls | ^ thanks | ^ write | ^ ~ | ^ 嗯 | ^ 把 | ^ 数 | ^ 隔 | ach | all ≈
-65 and went | as always | auf N | ausnahmsweise | aye | between | burned | clean , | dann | dazu | diese | four
-65 für die | gave him | gesagt | getting a | have = | her | him the | home 不 | i still | in #amount | in by
-65 in that | instead of | is it | it this | ja = | jealous | jeden #days | juniper | lang | leaves | lift $
-65 lights | läuft | mal | meiner | need #amount | new place | newsletter | noch nicht | normal $ | of course
-65 on tues | pipe | pipe , | remind | replaced the | school | schreib | steh | super | taxi | the website | thesis
-65 tho | threw | to pay | twins | video | vielleicht | wann | we = | xmas | zum N | zweiten | ≈ an | ≠ # | 下 周
-65 专 | 习 | 今 天 | 公 | 准 | 句 | 嗯 | 多 少 | 大 宝 | 天 补 | 好 | 成 ≠ | 报 告 | 改 用 | 新 闻 | 是 大 | 的 店
-65 讲 | 那 年 | 醒
-60 #days as | #number from | #number with | +angeblich | +basket | +bett | +cheaper | +dark | +didnt | +dry
-60 +einem | +grand | +große | +id | +jealous | +laden | +newsletter | +number | +oder | +order | +rain | +remember
-60 +second | +seinen | +signed | +then | +where | +übrigens | +乘 | +习 | +什 | +候 | +哭 | +壁 | +然 | +目 | +能
-60 +记 | +问 | , mines | , poor | , says | , still | , thanks | , was | , 医 | , 明 | , 正 | = N | = keeps | = the
-60 = wants | = 再 | = 照 | N sold | ^ nearly | ^ schreib | ^ theres | ^ 发 | ^ 还 | a chair | all = | all good
-60 and still | another = | anyway | as well | auf #number | basket $ | braces | but no | cheers | cousins | crying
-60 dinner | dream | einem | folder | fun | get | goal | haben $ | hes not | home now | home 个 | i asked | is an
-60 is my | is now | is that | keep = | kumpel | last time | let me | look | make it | may | moved here | moved its
-60 not ~ | of me | on my | only have | out the | parents | poor | pump , | same ≈ | send | she has | sister had
-60 sold it | sold out | spring , | surname is | the N | the same | tonight $ | und wir | usual | wanted | was in
-60 weiß | whats the | wifi | wk | wo | yet | zimmer , | ~ is | ≈ N | ≈ last | 一 句 | 也 没 | 习 生 | 别 叫 | 双
-60 吃 上 | 后 过 | 实 习 | 店 休 | 我 带 | 手 , | 搬 去 | 明 | 服 | 补 了 | 谢 | 跳
-55 #amount since | #number | +ask | +aye | +beide | +book | +brown | +change | +coffee | +diese | +drüben | +ein
-55 +fahr | +folder | +ganz | +gefunden | +go | +heil | +job | +kinder | +live | +meinen | +mo | +morgen | +normal
-55 +ob | +own | +poor | +sag | +telly | +which | +wk | +work | +write | +xmas | +zimmer | +乌 | +比 | +血 | +表
-55 , how | , ist | , looks | , love | , theyre | , told | , 车 | = auf | = it | = steht | = this | N bin | N ins
-55 N mehr | N not | N taken | N vor | N ≈ | ^ $ | ^ aye | ^ lovely | ^ nephew | ^ that | ^ yep | ^ 朋 | a wedding
-55 and leave | anderen | arbeite | are not | auf #amount | back as | by ≠ | cat | cleaner | corsa | crowd went
-55 die N | fasting | favourite | for | for october | frei | full , | für = | fürs | gelegt | grand | he was | hes
-55 heute die | home , | home 手 | ice | ill , | immer , | is called | ja , | jetzt #number | just | late | liked
-55 lindenstraße | never have | next | nimmt jetzt | oh sure | partys | rained | remind me | see it | service
-55 she said | sister | sisters | stopped the | stuck in | super , | sure , | swap | swim | taken up | than
-55 thanks , | that in | tmrw | today , | twice , | up for | von N | vor = | was cancelled | we have | while
-55 wir den | year ≈ | yep | ≠ in | ≡ ≈ | 也 = | 修 好 | 另 外 | 咋 | 啊 | 存 | 宝 , | 室 | 寄 | 对 , | 庆 | 店 的
-55 我 要 | 推 荐 | 改 跑 | 步 | 王 | 盒 | 续 , | 荐 | 订 了 | 记 一 | 请 假 | 谢 谢 | 费 | 车 牌 | 车 险 | 进 去
-55 锁
-50 #days is | +best | +bruder | +cold | +comes | +draußen | +face | +fast | +fragen | +hell | +ice | +lights
-50 +liked | +mal | +neighbour | +painted | +partys | +pipe | +pump | +rained | +rather | +refund | +slide | +sogar
-50 +something | +steh | +waren | +while | +wo | +yes | +么 | +准 | +千 | +另 | +吃 | +套 | +庆 | +把 | +荐 | +财
-50 +饭 | , best | , day | , like | , lovely | , next | , 别 | , 客 | = her | = ich | = lol | N gewechselt
-50 N hamster | ^ #days | ^ bumped | ^ whats | ^ 五 | ^ 收 | all day | am #number | apartment | asked | auch noch
-50 aye , | before i | bits | both , | braucht | cron to | da und | dabei , | days N | die #number | dishwasher
-50 doesnt | door | eine | frag | fragen | go on | got there | haben N | have a | hell | i put | ihm | in bits
-50 in so | into = | is #amount | is very | its for | kidding | kollegin | ladies | leute | long | lovely , | me to
-50 meinen | minus | nachbar | ne = | not me | not moving | nur die | off him | oliven | on #number | on it
-50 one of | others | outside the | seine = | she is | sich jetzt | sofa | soll | sonst | steam | switch | this ≡
-50 til | til #days | to normal | too , | und = | und jetzt | up my | visitor | what | when she | where | wifes
-50 with the | ya | you | you know | ~ in | ~ to | ≈ as | ≈ with | ≠ early | ≠ 去 | 代 | 你 说 | 儿 子 | 共 | 卡
-50 又 不 | 只 剩 | 可 | 哭 了 | 墨 | 宝 | 工 位 | 慕 | 拉 的 | 收 到 | 旅 | 案 | 梯 | 电 梯 | 的 那 | 知 | 羡
-50 羡 慕 | 老 公 | 英 | 要 ≠ | 试 | 走 得 | 还 | 这 | 那 家
-45 #amount about | #amount instead | += | +allein | +anyway | +aus | +ausm | +ausnahmsweise | +bits | +bleib
-45 +boxes | +can | +cream | +crying | +d | +diesen | +einfaches | +favourite | +für | +gar | +handy | +ill
-45 +kettle | +kollegin | +ladies | +meint | +nachbar | +oat | +opa | +past | +schon | +schule | +spring | +still
-45 +switch | +ta | +tears | +tim | +visitor | +weiß | +years | +yet | +共 | +别 | +句 | +总 | +搭 | +数 | +早
-45 +猫 | +碗 | +请 | +顺 | +龟 | , from | , shame | , whats | , 一 | = braucht | = friend | = grad | = mate
-45 = put | = what | N havent | N is | N yet | ^ ja | ^ jo | ^ tell | ^ when | ^ ya | ^ 到 | ^ 行 | ^ 那 | ^ 项
-45 ah | all over | allianz | ask me | at work | beim | bis #days | biscuits | branch | calls | closed , | cream
-45 daughter | dazu $ | die ≠ | diese woche | diesen | drüben | eigentlich | electric , | first , | fits | gig
-45 got | grad im | haare | halle | halt | has ≠ | have #amount | hedge | hill | ice cream | ich da
-45 jetzt zusätzlich | jo | junge | kann | kettle | kitchen , | klar | klar , | know , | left at | lessons are
-45 mate N | mehr da | meint | my desk | my wife | myself $ | of my | of us | off and | office , | on as | on him
-45 out on | per | sagt der | seconds | shame | shame , | sorry | staging | story | tears | thanks | the company
-45 the newsletter | the pipe | the sofa | this = | this once | tickets | time since | to know | to see | toners
-45 too so | two , | umzug | up #daypart | vertritt | vertritt ihn | von | wants to | wem | wenn | went up
-45 what do | wie | won #number | work | zu ≈ | zusätzlich | zweite | übrigens | ≈ # | ≈ off | ≈ 三 | ≈ 了
-45 ≠ night | ≡ is | ≡ 说 | 一 共 | 不 学 | 个 | 候 | 到 #days | 加 了 | 回 = | 女 婿 | 婿 | 媳 | 小 区 | 就 这
-45 成 # | 成 #time | 是 | 没 人 | 点 $ | 疼 | 的 | 的 不 | 科 目 | 第 #amount | 英 语 | 说 不 | 馆
-40 #amount came | #number since | +a | +across | +apixaban | +aunt | +away | +bacon | +braces | +bullet | +calls
-40 +cousins | +daughter | +earlier | +everything | +fortnight | +gekauft | +gig | +haare | +hand | +hühner | +july
-40 +mornings | +münchen | +nochmal | +prima | +see | +shame | +solange | +story | +suggest | +table | +teacher
-40 +thank | +thanks | +tickets | +toners | +vertritt | +wann | +weekend | +well | +zusätzlich | +出 | +墨 | +安
-40 +报 | +松 | +染 | +椅 | +盒 | +英 | +该 | +谢 | +赶 | +辆 | +避 | +铺 | , can | , crowd | , suggest | , 啊
-40 , 小 | , 直 | = aber | = didnt | = ein | = nachbar | = new | = right | = 号 | = 吃 | = 家 | N = | N are
-40 N daughter | N noch | N to | N went | ^ this | ^ 咖 | ^ 没 | along | amazing $ | and say | arent | as before
-40 aunt | back ≠ | been ≠ | bleibt = | came on | cant come | come back | concert | day ≈ | den einen | diesmal
-40 down | eltern | ersten | ersten N | fallen | file | flying | frames | friend | go ! | grand , | has #amount
-40 has died | i liked | ich $ | ich bin | ihre | insurance is | is fine | jetzt um | jugend | junge , | just got
-40 keinen N | like you | list $ | me this | mornings | move the | move to | nen | nope , | number | office to
-40 once , | paid , | partys on | passed his | paying | plus | put back | saw | schon = | show | since ≡ | so ask
-40 solange | something | spaß | still on | stove | stuff $ | suggest | swapped to | ta , | team | thanks for
-40 the board | the day | the pool | the stove | the tickets | theirs | theres | to my | to take | trinkgeld | um ≠
-40 up coffee | went well | where the | wife $ | windows | yaml | ~ ≠ | ~ 上 | ≠ with | 位 了 | 写 成 | 动 车 | 半
-40 叫 | 吃 | 吧 | 听 说 | 啊 不 | 在 管 | 媳 妇 | 定 | 工 钱 | 店 里 | 我 看 | 来 = | 柳 | 球 | 球 $ | 电 了
-40 管 账 | 账 了 | 账 的 | 跑 | 跑 到 | 还 剩 | 险 今
-35 #amount ! | #amount days | #amount left | +airport | +apparently | +badly | +before | +birthday | +chase
-35 +confirm | +diesmal | +ever | +fail | +feiertag | +file | +fwd | +ging | +given | +gute | +halb | +ihn | +jan
-35 +kurze | +lamb | +leave | +lovely | +marrow | +nineties | +remind | +rosary | +sitz | +staging | +tmrw | +unter
-35 +vor | +取 | +吴 | +无 | +检 | +欢 | +独 | +着 | +谈 | +轮 | +额 | , dann | , does | , remind | = also
-35 = broke | = costs | = does | = gezogen | = only | = tonight | = unverändert | N nach | N wurde | ^ almost
-35 ^ haha | ^ hes | ^ mums | ^ sag | ^ 表 | an N | and #number | and made | answer | are going | as ever
-35 auch keinen | aus N | bis #number | bleibt bei | config | confirm | dark | dave | do not | done $ | einmalig
-35 fail | feiertag | feiertag $ | flats | god $ | gone up | hat schon | he | headings | heil | ihre =
-35 immer #days | instead $ | is back | just moved | mad $ | me #amount | minutes | moon | new people | nineties
-35 not today | old = | party is | rang to | raus $ | rosary | shed | suchen | taken off | thank god | the moon
-35 the nineties | tiles $ | to = | took N | twice | us $ | week | weekday | weekend | well at | which | you wrong
-35 zu den | ≈ already | ≈ and | ≈ was | ≠ today | ≡ #amount | 不 再 | 他 | 休 了 | 剩 ≈ | 剩 半 | 加 | 又 挂 | 周
-35 学 我 | 时 候 | 的 ~ | 行 | 补 | 面 | 饭 了
-30 #amount seit | #days 了 | #time now | #titled retired | +#amount | +agency | +alleine | +autofahren | +bahn
-30 +chef | +config | +einmalig | +ffs | +for | +frist | +gehängt | +gran | +het | +inzwischen | +kita | +lass
-30 +limit | +neujahr | +noch | +prod | +ran | +stehen | +suchen | +suit | +tank | +tonight | +travel | +们 | +吧
-30 +姨 | +开 | +游 | +贴 | , any | , chucked | , vet | = #date | = auch | = down | = job | = kollegin | ? ?
-30 N lost | N so | alle ≈ | aus | called | change | chucked the | das N | didnt = | either | every weekday
-30 freundin | gets the | go back | into yaml | k $ | kettle on | kommen | mail | mir = | muss | nach = | nailed
-30 names | never been | new , | nix $ | oder $ | pull | seen | sich = | sleep | the config | to all | up at
-30 yet , | 不 通 | 全 家 | 卓 | 安 卓 | 带 = | 椅 | 班 | 目 | 里
-25 #amount on | #number , | +abgemeldet | +apotheke | +beside | +bude | +es | +eye | +flats | +home | +ihre
-25 +jabs | +namen | +shook | +thing | +von | +were | +存 | +社 | +过 | +近 | N hospital | ^ mach | and N | and put
-25 been put | beers | bother | brauch | damit | dem N | ever , | from #days | gehört $ | ich grad | isnt ≡ | jabs
-25 krankgeschrieben | list | mate | me $ | much for | october , | recipe | says $ | somebody | the baby | to last
-25 to paper | week with | well for | wg | with ≠ | zum | 会 | 学 费 | 小 = | 第 | 菜
-20 +bunk | +darf | +kitchen | +or | +tenner | +wants | +那 | , god | , 总 | = angerufen | N yesterday | ^ it
-20 about ≈ | beside = | charges #number | costs | from = | hour from | is | laden | meine | no longer | our
-20 out my | pay us | so $ | starting | today $ | why | with his | ≠ s | 到 #amount | 去 = | 同 | 姨
-15 +next | +schluss | , ours | ^ 小 | garage , | gestrichen | know | lessons | paar | some | zimmer | ~ 了 | ≠ 起
-15 发 | 员 | 换 | 道
-10 #amount 八 | #amount 没 | +mein | +儿 | +这 | endlich raus | pay | there $ | war da | 直 接
-5 +village | +日 | +电 | +薪 | +边 | , keep | , tues | N sind | longer | mama | on the | so quiet | 批 | 线
-5 过 年
5 #date , | +wieder | +≡ | +平 | +退 | arm | not the | of them | 高
10 +brought | +业 | +保 | +张 | gewechselt | other name | passed | sick | the whole | us all | ~ | 上 个 | 充 电
10 分 了 | 回 $ | 搬 | 撕 | 现 在
15 +week | +中 | +喽 | +应 | +通 | , dont | , ein | , 鞋 | ^ had | because | but ≈ | falschen | hingeschmissen
15 i take | lager | laid | on N | 昨 | 续 先 | 舅 舅
20 #amount 二 | #phone | +baby | +cut | +durch | +funny | +moans | +run | +upstairs | +verein | +万 | +跟 | ^ left
20 ^ venue | ^ 脚 | across | apixaban | before $ | hes got | jeden | married | migration | moans | nen neuen
20 never | person now | review | she says | short | since the | stall | taken the | that = | the weekly | up , | w
20 was never | ≠ as | 今 | 在 大 | 妈 , | 年 ≠ | 我 又 | 换 了 | 是 = | 泳 | 游 泳 | 盖 又 | 考 完 | 车 了 | 黑 的
25 ! #time | #days , | #time # | +centre | +council | +den | +plumbed | +school | +slid | +winter | +房 | +走
25 , boss | , permanently | = 妈 | N bei | N bought | N came | N has | N only | ^ die | ^ mir | ^ 乐 | after ,
25 am #days | asking $ | email , | er hat | football | for it | für ≈ | gave the | gekündigt , | gets | gives
25 gone into | hab den | hard | hof | hotel , | i told | in #days | instead now | is on | it wrong | its N
25 jeden tag | jenkins | jetzt bei | l | lol , | maternity leave | mum says | naturally | note for | on maternity
25 only do | remortgaged | sang for | shipped | signed it | slid | tag | to another | up again | we changed | wird
25 won $ | zu = | ≈ this | ≠ = | ≠ at | 一 直 | 你 一 | 倒 | 充 | 八 了 | 六 了 | 太 太 | 头 | 女 儿 | 字 | 字 $
25 推 光 | 操 | 操 场 | 调 了 | 长 了 | 领 证 | 高 考
30 #amount kommt | #amount to | +büro | +ditched | +lad | +money | +name | +oben | +pets | +raised | +study | +上
30 +台 | +戒 | +整 | +窗 | +粉 | = aus | = gestern | = on | = 刚 | N never | N no | ^ neue | ^ sold | ^ with
30 ^ 队 | am i | been on | bei mir | beides | bought a | btw | came back | chapel | chapel , | die hochzeit
30 die ≈ | do the | downstairs , | einen = | fags | gestern #amount | hall , | hat am | is cancelled | is too
30 is ≠ | ist leider | it on | it turns | its place | just ≈ | like the | man says | mittlerweile | my niece
30 nach #amount | name | nei | new | of pickles | ohne | other value of this line alone | parking | pickles
30 point , | pushed back | research | rid | rid of | sogar | stays where | switched off | tap | term $
30 the chapel | the drawer | the fags | the noise | the other | them to | theyve | traded | traded it | tram | und
30 unpacked | up = | up w | w = | wieder = | with this | year #number | über die | ≈ is | ≡ , | 一 中 | 从 今 | 始
30 开 始 | 推 到 | 摘 | 样 $ | 涨 了 | 脆 | 脚 | 闲
35 #amount an | #amount last | #date 过 | #phone $ | +amt | +couldnt | +dairy | +department | +dreh | +driving
35 +freie | +hard | +hotel | +immer | +künftig | +letzten | +naturally | +notice | +over | +parcel | +person
35 +poster | +stall | +star | +starts | +take | +third | +uhr | +weds | +went | +乐 | +住 | +唉 | +夫 | +彻 | +心
35 +林 | +泳 | +车 | , been | , endlich | , going | , staying | , we | , 电 | = ! | ^ den | ^ dug | ^ jenkins
35 ^ offer | ^ you | ^ 错 | ^ 高 | again , | and ~ | any longer | anymore , | ask , | beautiful | beer | being
35 bloß | board | both of | bub | bus $ | but hes | call me | came for | changed to | die nimmt | die stunde
35 do all | doesnt = | drin , | early , | elbow $ | every time | everywhere | exactly what | found | funeral was
35 fwd | für immer | get lost | hab heute | hab nur | hat sich | her at | heut nacht | home N | ideas | in der
35 is da | its just | kid | kill | klinik | komplett | last night | left | love = | macht jetz | measured
35 mit #amount | more #days | morning ! | my elbow | new husband | nie | nurse $ | nursery | once a | op | over
35 over and | people keep | pilates | place , | renumbered | room for | scanner | seitdem | since yesterday | so N
35 spätschicht | straight on | stunde $ | sub | the agency | then the | theyre doing | think its | thru | to come
35 tup | und is | was after | writing | wurde | zehn | ≈ 没 | ≠ not | ≠ 打 | ≡ to | 万 五 | 也 跟 | 从 这 | 右 边
35 司 | 头 上 | 女 友 | 应 了 | 延 | 弟 | 彻 | 彻 底 | 我 那 | 是 #titled | 来 了 | 来 电 | 的 还 | 香
40 # $ | #amount due | #amount then | #days 那 | #time ! | #titled $ | #titled hat | +aufgehört | +aufzug | +being
40 +binned | +booked | +btw | +cuts | +died | +doing | +fair | +football | +funeral | +gewechselt | +gone | +human
40 +kein | +laid | +leider | +lent | +loaf | +measured | +müssen | +nicht | +nurse | +preis | +remortgaged | +said
40 +scanner | +stellplatz | +sub | +times | +verlängerung | +water | +zahl | +倒 | +全 | +到 | +厂 | +场 | +山
40 +换 | +村 | +法 | +盖 | +装 | +超 | , #titled | , bitte | , brother | , butter | , i | , ive | , lifes
40 , macht | , moved | , zu | , 如 | = , | = aufgehört | = have | = never | = will | ? not | N doing | ^ been
40 ^ boiler | ^ dead | ^ only | ^ shes | ^ squared | ^ took | ^ we | ^ 不 | a job | a kid | a peanut | account
40 and all | and gone | and run | as my | at my | balcony | banging | begraben | bio | bruder , | caved | days
40 dort | dried | dritte N | driver | eating | einfacher | end , | face | feb and | feels | feels amazing
40 flooded so | for everything | geschrieben | go | got a | gute | haben wir | halved | halved it | handed
40 has given | her ~ | him $ | him down | his second | home flat | home 工 | home 静 | i used | ich schon | ihn im
40 in all | in both | inzwischen ≈ | isnt = | it alone | it is | it to | its the | jetzt N | kann mich | keller
40 klingt wie | kommt | kommt jetzt | lifes | lifes too | little white | lot for | mit = | month $ | more =
40 moved from | music | nach | nichte | nichts , | not a | nun = | other time | out over | peanut | permanently
40 permanently , | plug | potatoes | potatoes $ | pretty | pump | raised | range | rest | sept , | set for
40 she came | short , | sick of | signature | squared | squared up | sticks | sugar | swapped the | tennis
40 the beach | the course | the fete | the laser | the meeting | the normal | the nursery | the scan | the surgery
40 the ≠ | theos | there , | those | through | thurs $ | to kill | too short | twenty | twenty , | v
40 venue flooded | von gestern | you ask | young | zahl ich | zen | zugesagt | zur | ~ it | ≡ 回 | 了 = | 伙
40 到 三 | 反 了 | 啃 | 她 现 | 建 | 往 | 往 后 | 打 了 | 改 ≠ | 歇 #amount | 没 完 | 泳 , | 的 ! | 空 | 考 了
40 胃 | 豪 | 跟 着 | 还 给 | 退 了
45 # since | #days s | +#phone | +address | +after | +alles | +anything | +balcony | +docs | +doctor | +dort
45 +drove | +email | +finally | +hat | +heron | +ideas | +landlord | +lates | +längst | +mir | +mittag | +must
45 +niece | +parking | +peanut | +pretty | +properly | +rein | +sepp | +shares | +stunde | +thurs | +traded | +up
45 +used | +voted | +watch | +yr | +zu | +刚 | +卖 | +吉 | +固 | +复 | +奶 | +布 | +掉 | +本 | +每 | +狗 | +缺
45 +谁 | , a | , could | , frechheit | , hard | , ohne | , rain | , sie | , sind | , will | , 推 | , 教 | , 红
45 = allergy | = asked | = gets | = last | = machen | = moved | = ne | = now | = passed | = starts | = war | = 摘
45 N called | N gave | N its | ^ # | ^ closed | ^ erst | ^ from | ^ prima | ^ prod | ^ wir | ^ ≈ | ^ 妹 | ^ 改
45 a big | a change | a great | a thing | abgeholt | abgesagt | are done | asked her | ate the | baby | back on
45 back with | bacon roll | badge | bank , | be buried | bekommen | bekommen , | big = | bitte , | books ,
45 boss wants | bought | bring | called off | came through | cancel | charity , | couple | cross | die halbe
45 died on | doing | egal | egal , | every #amount | extended | facilities | family | flat , | flights
45 for asking | for me | frechheit | frechheit $ | früh | früh = | funeral | fwd to | gives me | grandmother
45 hab mich | habe die | habe ich | halbe | hall is | has dropped | hat grad | haus | heart | her , | his bank
45 home and | hotel | im büro | ist auch | ist vorbei | jahr | landlords | lass | lassen | left , | made | mehr
45 members | members , | mid | mitnehmen $ | monat | my new | new line | nicked the | official | only ≠
45 orthodontist | ours for | own place | pick up | piece | prima | prima , | pulling | raus und | runtergesetzt
45 second hand | she was | signed the | sports | st | still ≡ | tag , | the bowling | the old | these days
45 till the | tiny | to #number | to pick | to what | told the | trim | tues $ | up in | upgraded | us to
45 vegan since | vom tisch | votes | want #amount | weekly | were | wrecked | wrecked my | wrong $ | zweimal
45 überall | ≈ a | ≈ 八 | ≈ 的 | ≈ 那 | ≠ because | ≠ it | 为 | 也 停 | 买 = | 五 了 | 伴 的 | 俩 | 停 了 | 光 ,
45 南 | 又 看 | 口 | 吉 | 四 | 四 千 | 子 了 | 学 了 | 弄 错 | 弟 那 | 我 #amount | 我 搬 | 手 续 | 提 的 | 新
45 欣 | 洁 | 省 | 看 了 | 票 | 老 有 | 血 证 | 调 到 | 轻 | 里 的 | 错 了 | 队 里 | 面 了
50 ! ! | ! = | #amount from | #days im | #time from | #titled 给 | +#titled | +abgegeben | +abgeholt | +axa
50 +bekommen | +bonfire | +boys | +bread | +brilliant | +canal | +contacts | +couple | +eating | +eleven | +end
50 +everywhere | +farm | +father | +front | +halbe | +hate | +insurers | +lease | +lot | +members | +never | +new
50 +nie | +open | +peace | +plug | +project | +reversed | +shut | +sold | +tape | +turns | +twelves | +until
50 +van | +vorbei | +we | +weekly | +号 | +太 | +指 | +算 | +肾 | +钱 | , got | , havent | , house | , neighbours
50 , never | , sod | = closed | = fine | = gibt | = its | = mum | = r | N der | N moved | ^ all | ^ das | ^ nicht
50 ^ to | ^ 教 | a balcony | abgesagt , | an iphone | anymore $ | are ≈ | at christmas | auch , | aufgehört
50 aufgehört , | baby $ | back clear | back today | be for | bei N | beko | bin ich | bought , | brief | bust
50 by N | call , | can | captain | card , | cash | christmas , | come again | dairy | delivered | dem vermieter
50 dentist , | did , | die letzten | died | doch | doctors | drin | dumped | egg | ein junges | einschläfern
50 einschläfern lassen | email | endgültig | everything | fainted | februar | flooded | ganze N | german
50 gestrichen , | geändert | geändert , | gleich die | go to | gruppe | gumtree | hall | handed back | heads
50 heard alone | het | him at | home month | home moved | home 这 | husband $ | i came | i resigned | ideas for
50 in year | into | it by | junges | junges paar | know $ | land | leave so | lent | letzten | machen | married on
50 maternity | mentor | n | neu $ | never was | nicht = | nicked | november | now | now god | nudeln | number ≠
50 nursery run | nursing | oat | off to | on #days | own | plumbed in | pregnant | put to | quit , | rauf
50 registry | registry office | release = | resigned | resigned from | retired , | ruhig , | says ≈ | signed off
50 sister in | skip the | so that | stands | still | studio | summer , | surgeons | the plug | the shoulder
50 the summer | the title | there since | these | trial | tut | us down | use | vermieter | viel $ | vorsitz | w a
50 was the | was too | week , | white , | wrong about | year and | zwar | über N | ≈ more | 上 班 | 不 做 | 做
50 全 | 吃 沙 | 啦 | 外 婆 | 店 员 | 快 #amount | 是 洁 | 月 搬 | 楼 的 | 没 动 | 洁 , | 清 | 管 = | 给 | 苗
50 身 体
55 ! im | # is | #amount was | #days night | +arm | +café | +car | +caved | +could | +deleted | +extended
55 +fainted | +fourth | +from | +gumtree | +have | +heart | +hinten | +its | +kid | +lasted | +left | +les | +luck
55 +myself | +neither | +nudeln | +piece | +sad | +sich | +sorry | +stop | +studio | +stuff | +wir | +without
55 +八 | +弃 | +往 | +水 | +热 | +苗 | +西 | +闲 | +陪 | +验 | , asked | , bought | , customers | , doctors
55 , hab | , just | , uncle | , were | , wird | , yes | , 手 | = #time | = after | = dont | = finally | = macht
55 = one | = 了 | = 提 | N allergic | N aus | N beim | N dentist | N i | N this | ^ bring | ^ came | ^ da | ^ docs
55 ^ funny | ab jetzt | abnahme | altogether , | ankle | back at | believe , | belly | bit the | brought forward
55 by hand | call | card | comes | d | danke , | das | das zu | deleted | den #number | den alten | design
55 did it | dinners | done and | donor | dorf | empty | endlich | er = | first $ | for charity | from now
55 gallery | gave it | geb | gewechselt $ | girl | gleich | gone | gone on | got the | gus | h | hand ,
55 has ended | has put | hated | helix | her on | home #number | home here | home out | home 屋 | home 无
55 home 来 | hr | hundert | hundert N | i muddled | in , | in einer | ins | itself | jetzt $ | jetzt die | jetzt ≈
55 job | job in | lamb $ | land , | lease | legs | lot | make that | mehr , | mit | mit #number | money
55 mother and | muddled | muss jetzt | my grandmother | myself | nacht | name and | new address | nimmer ,
55 no need | no point | not be | off = | on reception | on till | on ≈ | only on | outgrown | photo | prod
55 pulled the | rooms | runs $ | scan | schwester $ | scrap $ | sie | sie heut | so well | sober | stehen | strom
55 term | they changed | theyve given | theyve put | to a | to be | to love | to work | tues | und bei | use =
55 weißt | went | went out | whole | worden | wrong , | ~ no | ≈ $ | ≈ hour | ≈ left | ≈ seit | ≈ und | ≠ same
55 ≠ 也 | ≠ 就 | 两 个 | 个 = | 了 不 | 刚 来 | 剩 #amount | 功 | 印 | 厂 里 | 台 | 回 | 已 经 | 挪 去 | 灰
55 白 的 | 第 ≠ | 装 好 | 订 票 | 说 ≡ | 躺 | 那 份 | 降 压
60 #amount day | #amount today | #titled 说 | +altogether | +april | +because | +board | +bungalow | +buy | +bye
60 +captain | +daheim | +eh | +extension | +fuchs | +gibts | +h | +hiding | +hol | +jetzt | +kp | +mehr | +muddled
60 +nach | +need | +neuer | +november | +nursing | +off | +outgrown | +pregnant | +pulling | +rauf | +rent
60 +right | +round | +runtergesetzt | +shop | +sports | +squared | +strom | +talk | +ticket | +turned | +worden
60 +wrecked | +刨 | +劝 | +士 | +嫌 | +延 | +收 | +改 | +断 | +柜 | +留 | +送 | +酒 | +闭 | , last | , oat
60 , saves | , ~ | , 不 | , 凉 | , 日 | , 老 | = abgesetzt | = hat | = is | = 改 | = 的 | N again | N baby
60 N nehmen | ^ hospital | ^ two | ^ weißt | a = | a young | ab | acht | all of | alter | and im | and the
60 been our | beside N | charge | charges ≈ | chocolate | chucked | clean | closed | coming $ | dem | der kita
60 dug the | em | ever again | every | fire $ | first | for ≈ | gave | girls go | got #number | got my | guys
60 h , | ha | ha no | haben auf | had the | ham | has taken | hated the | here ! | him , | him an | hips | hob i
60 home love | home 派 | home 的 | home 睡 | home 边 | i lost | i write | into ≈ | it up | ive come | jetzt
60 keine = | korrektur | language | last session | laut | left after | lent , | makes | me | me ever | mind $
60 moped | my brother | new number | new rules | next in | no im | not in | nurse | plug on | pool , | read it
60 salary | sale | samples | saves | scrapped the | several | since lent | single | so ≠ | stairlift | ten
60 that my | the bank | the books | the driver | the gallery | the stairlift | the top | the under | they pay
60 to october | too much | took the | took ≈ | umgestellt $ | und statt | us , | veggie | vo | vorbei | walk to
60 was wrong | washing | we talk | went bust | ziel | zum ≈ | ≈ erhöht | ≡ now | 三 餐 | 上 周 | 不 带 | 了 客
60 了 昨 | 了 现 | 人 了 | 何 | 做 好 | 停 | 刘 | 口 了 | 啥 都 | 子 一 | 子 吃 | 徒 | 徒 弟 | 我 们 | 拜 | 提
60 期 = | 沙 | 碰 | 老 头 | 让 人 | 说 啥 | 车 , | 辞
65 #amount 来 | #days and | #days ≈ | +abbestellt | +auf | +belly | +both | +bust | +chucked | +erst | +feb
65 +finger | +flat | +geschrieben | +hips | +january | +neun | +nowt | +nun | +orders | +these | +transfer
65 +trial | +verkauft | +国 | +大 | +女 | +嫂 | +户 | +术 | +练 | +辩 | , arm | , bin | , cut | , dem | , im
65 , nicht | , surgeons | , unbefristet | , 从 | , 分 | = #amount | = #number | = are | = for | = instead | = kit
65 = off | = shut | = turned | = wird | = wrong | = 上 | = 去 | = 散 | ? = | N haben | N last | ^ drei | ^ moved
65 ^ seit | all $ | alle = | altogether | an = | ankle , | bestanden und | bleibt | bossing | both = | brauche
65 breakfast $ | came down | cash , | cleared | das nicht | der hat | drawer | dug | e | engineer | full time
65 geld | girl , | god rest | got too | hab | hall $ | have had | home keys | home 旁 | home 李 | home 束
65 home 沙 | home 读 | home 近 | ich auf | immer | in march | in november | internet | is as | is the | kauf | lad
65 last #amount | lead | legs , | managers | me onto | mind | mit der | night | nimmt | none | nope gave | now the
65 on me | other date | own #amount | pb | plumbed | point | quit the | received | review , | ruhig | said yes
65 says = | schon am | sein N | sept | shell | sich auf | sind jetzt | summer | surgeon | teeth | that ,
65 the drive | till #number | turns out | two | verkauft und | verschiebt | versetzt | von den | voted | weds
65 weve got | whole week | wieder jeden | with #number | would you | year is | zu viel | ~ at | übergeben | ≈ days
65 ≈ instead | ≈ mit | 一 个 | 下 来 | 了 师 | 了 没 | 伴 | 依 | 停 , | 出 | 啃 苹 | 娃 | 害 | 小 温 | 我 爸
65 换 = | 搞 | 更 正 | 献 | 献 血 | 现 | 给 大 | 老 太 | 走 了 | 跑 了 | 路 了 | 门 口
70 ! did | # = | +N | +down | +flights | +gls | +good | +komplett | +much | +nacht | +neu | +nicked | +now
70 +october | +out | +pushed | +pünktlich | +resigned | +sale | +scan | +schwester | +scrapped | +shifted | +tbh
70 +unverändert | +übernommen | +伤 | +充 | +北 | +医 | +压 | +废 | +搞 | +省 | +脚 | +被 | , number | , streaming
70 = doch | = handed | = today | = up | = zahlt | = 以 | = 卖 | = 涨 | ^ day | ^ er | ^ fox | ^ gave | ^ ha
70 ^ last | ^ switched | ^ theyre | ^ went | a flat | als | and he | banned | because we | been , | bestanden
70 bring it | btw $ | by the | canaries | confession | correction | discharged | down , | empty $ | erledigt
70 fine , | finished | first night | from ≠ | girls | gone to | habe | him on | home last | home 好 | home 州
70 hour , | house is | i $ | i want | is in | ist | it = | jetzt meine | kitchen $ | können | meeting , | mine to
70 my = | my son | new schedule | notice and | onto | ours | own , | pension , | presents | quit | schedule
70 schlaf ich | sheet | streaming | taken | the music | the train | to let | two $ | und #amount | velvet
70 we swapped | well now | went under | wie gehabt | wir es | worked | year , | york | you believe | youtube
70 ~ are | ~ yes | ≈ today | 不 用 | 别 再 | 去 了 | 后 ≠ | 局 | 己 带 | 带 饭 | 我 = | 提 到 | 早 章 | 沾 | 盖
70 立 早 | 签 | 返 | 都
75 #number #number | #number a | #number so | +#time | +abgesagt | +else | +fahre | +gave | +got | +hundred
75 +korrektur | +love | +makes | +podcast | +replaced | +rules | +shell | +ship | +sign | +tag | +verschoben
75 +weeks | +writing | +wurde | +何 | +刘 | +空 | , | , bye | , feels | , home | , 换 | = any | = as | = gone
75 = 三 | = 搬 | = 那 | = 都 | N btw | N call | N can | N for | N on | N with | ^ binned | ^ got | ^ new
75 abgegeben | alle #amount | and thats | bad | be put | bei der | closed the | der | die ~ | free | fully | geh
75 green , | haben | have changed | her last | home 到 | hundred | insta | is so | it so | left in | lehre
75 lost ≈ | machen wir | malte | mine $ | month = | moved out | nach dem | nie wieder | noch ≈ | other phone
75 papier | permanent | pushed to | schon $ | shifted | shop with | this year | to quarter | told you | took my
75 trailers | waage | war mir | weh | with #titled | worked , | yes $ | zahl | ~ #days | ~ #number | ≈ without
75 下 的 | 不 考 | 也 不 | 今 年 | 剩 | 加 到 | 在 南 | 天 起 | 心 $ | 我 姓 | 掉 了 | 散 | 散 了 | 旧 , | 机 号
75 的 手 | 碰 $ | 装 | 过 的 | 鱼 全
80 #amount again | #number now | +# | +aufgegeben | +bleiben | +correction | +handed | +iphone | +jetz | +lead
80 +letter | +lost | +mine | +mittlerweile | +nein | +nö | +r | +swapped | +verlängert | +vermieter | +weekends
80 +zwar | +傅 | +意 | +招 | +摘 | +由 | +重 | , his | , mums | = mehr | = name | = packed | = test | = thing
80 = to | = 也 | = 是 | N back | N live | N put | ^ guess | ^ ne | ^ nobody | ^ on | ^ 别 | ^ 她 | a $ | ab heute
80 anna | auf ≈ | back to | bleiben | both | fifty | fox | geschieden | given | going | going back | gone ,
80 good till | hand | has stopped | hat angerufen | home 单 | i get | ist raus | jetzt bis | laufen | man ,
80 mich mal | müssen | new name | out , | placement | put it | shut for | sind | started | teacher | the bungalow
80 this month | took all | walk | weekends | were N | year | ~ ok | ≠ since | 了 以 | 对 面 | 归 | 断 | 生 , | 耳
85 ! ≈ | #amount already | +ago | +aufgelöst | +cancel | +cleared | +dried | +endlich | +fifty | +giffgaff
85 +jacked | +misread | +moved | +owner | +passed | +retired | +rooms | +samples | +so | +umgestellt | +weve | +散
85 +班 | +生 | +自 | , 家 | , 身 | = and | = doesnt | = has | = his | = n | = went | = 我 | = 昨 | N note
85 N please | ^ back | ^ doc | ^ garage | ^ nach | a piece | abgebrochen | abgesetzt | after that | alarms
85 all mine | alone | als N | and i | and my | brother | bye = | damp | day #amount | dem = | den ≈ | done with
85 find ich | forward | gardening | gekündigt | hat mich | i are | in charge | in on | jacked in | main , | new =
85 off , | old for | owner | pulled | retirement | seit N | six $ | so = | so please | sofort | to ≠ | too old
85 with an | zehn $ | ~ bleibt | ≈ | ≠ from | ≡ 了 | 也 | 了 手 | 人 喊 | 以 后 | 到 手 | 包 进 | 区 #date | 厂
85 号 没 | 啦 , | 夫 | 带 孙 | 招 牌 | 百 $ | 配
90 # with | #amount a | +day | +ende | +hated | +since | +split | +warn | +wrong | +东 | +拼 | +更 | +死 | +舅
90 , 清 | = haben | = out | = retired | = und | N next | ^ jacked | ^ me | and use | church $ | finally | forget
90 gar | gestorben | gestorben , | home 多 | home 租 | hour ago | im a | iphone | ja ~ | laser | most | neuen
90 no ~ | pushed | put me | ran out | seit | since | till next | van , | with = | you keep | 下 #days | 二 =
90 公 司 | 剩 我 | 头 喽 | 如 今 | 挪 | 生 说 | 让 | 黑
95 ! | +not | +uni | +拉 | +涨 | , also | , by | , 外 | = 从 | = 八 | = 回 | = 转 | N have | N here | ^ passed
95 ^ 调 | auf den | buried | bye | cancelled = | doc says | finish at | from home | haben den | i = | it any
95 künftig | little N | mattress | other value | scrap | tausend | upped | use they | wieder , | y | ≈ she | ≠
95 睡 | 让 给 | 起
100 #amount early | +bad | +clear | +ended | +erledigt | +last | +schedule | +switched | +休 | +吐 | +字 | +月
100 +迁 | = walked | = wurde | and = | auf ≠ | augen | be N | bin jetzt | clear , | die = | good to | inzwischen
100 only #amount | our = | replaced = | says no | shoulder | so he | thieves | venue | 了 | 交 给 | 受 | 和 好
100 就 在 | 退
105 #amount 三 | +enough | +proper | +term | +只 | +员 | +白 | = | = back | = go | >3 | ^ theyve | a month | beats
105 binned | doing = | emigrated | falsch | heard | immer ≠ | kitchen table | left = | mad , | mein = | no =
105 nothing | of message | overbooked | overbooked , | sie hat | so its | the = | the extra | the wife | to #time
105 walked , | with a | 喽 | 必 | 昆 | 证
110 +done | +em | +stopped | +了 | +位 | +转 | = bin | = habe | = started | better , | bin | bungalow | came
110 cancelled | home finally | opened | split up | 了 别
115 #amount #number | +anymore | +changed | +instead | +米 | = weg | = 被 | bescheid | eyes | home in | it all
115 longer = | over , | so thats | so the | um $ | ≈ = | 撤
120 +cancelled | = 退 | ^ 是 | as of | der ≈ | found a | money $ | nach der | replaced | says i | what i | 新 =
125 +dont | +dropped | ^ = | anymore | contracts | deck | home 间
130 +撤 | = altogether | = hab | = 让 | at all | jetz | no more | not ≡ | weder
135 +weg | = kommt | from today | 别 了 | 后 = | 咯
140 +more
145 +habe | ^ ≡ | from here | ich jetzt | swapped = | 学 期
150 down to | dropped =
155 from this | not = | signed
160 for good
165 +啦
175 all #amount
190 share
205 home 搬
215 = ist | this morning
220 heard lead | nur noch
"""
"""In hundredths of a log-odds, each before the features that have it."""
