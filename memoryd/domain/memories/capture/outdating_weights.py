"""Weights for `outdating`, as fitted by `make eval-corrections ARGS=--fit`."""

TABLE = """
-635 *
-275 was ≠
-220 = says
-200 ^ in
-185 = bleibt | he says
-175 jetzt auch | was at
-170 = still | ? | nearly
-165 heard alone
-160 is no | 我 ≠
-155 N over | is not | 迟 到
-150 +vom | N sold
-145 seit ≠
-140 = stays | ^ yes | closed on | costs ≈
-135 +cake | also comes | haha
-130 #days now | +tomorrow | +town | +吓 | = sister | N habe | N jetzt | ^ #titled | and back | back again | ≡ =
-130 费
-125 +fox | , need | N off | ^ 对 | grade | says hes | she said | sold #number | sold out | taxi | 改 到 | 明 天
-125 牌 是
-120 +heut | +ihr | +nearly | +think | , put | ^ mums | einkäufer | knee | moving | nem | passed grade | ≠ too
-120 ≠ 去 | 客 | 那 年
-115 ! i | +clock | +hair | +manuscript | +starting | +告 | +哭 | , any | = from | = same | almost | at work
-115 client | how | need a | place ! | switched the | ≠ 给 | ≡ $ | 了 十 | 手 , | 挂 了 | 样 | 着 了 | 穿 | 错 ,
-110 +almost | +basket | +dad | +gas | +looks | +passt | +stehen | , then | , 师 | , 花 | = called | = party
-110 basket | basket $ | be in | dass | is back | next week | ob | on ≠ | out ≠ | show me | traurig | ~ and | ~ the
-110 也 归 | 了 ≈ | 后 就 | 是 不 | 涨 到 | 的 店 | 的 那 | 还 是
-105 #date 了 | +cheque | +grade | +key | +moving | +whos | +梦 | +满 | = N | = the | ? $ | ^ change | ^ frau | ^ my
-105 all ≈ | best | by ≠ | didnt | gave him | immer #days | in by | ist da | ja | might | next | on #amount
-105 thats it | we did | work now | ≈ # | 代 | 说 要 | 酸
-100 #days from | #number and | +beide | +bis | +bring | +gloves | +great | +jede | +meinen | +schreib | +seine
-100 +thought | +unterschrieben | +view | +啊 | +立 | +站 | +踢 | +问 | = sich | = took | = 又 | = 长 | N you | ^ 小
-100 ihren | kirkby | new , | not | not # | oder | online , | plate | said $ | still = | to pay | wants to
-100 was cancelled | was in | ≈ as | ≈ ≈ | 修 好 | 周 | 外 | 妹 搬 | 带 了 | 很 | 早 班 | 比 | 点 | 爸 的 | 电 了
-100 笑 | 群 | 说 不 | 车 了
-95 #amount N | +#daypart | += | +bank | +choir | +dass | +mal | +nervous | +ok | +remind | +sisters | +treasurer
-95 +write | +章 | = of | N läuft | ^ 把 | blood $ | giving blood | home #amount | is called | isnt | its an
-95 kollegin | morgen | moved the | my #days | notion | order | schon wieder | stopped the | switch the | this
-95 tomorrow | von | when | 个 了 | 了 五 | 八 , | 务 | 句 | 售 | 墨 了 | 是 ≠ | 毛 | 烧 | 请 假 | 车 险 | 邮
-90 #amount days | #time | +gut | +home | +late | +loft | +might | +order | +other | +phone | +saved | +seinen
-90 +slipped | +übernimmt | +于 | +宽 | +帮 | +棍 | +肝 | +表 | , sagt | , thanks | , thats | = does | = right
-90 = stay | = this | = tonight | N bank | N gestern | N gibts | N meine | N not | ^ meine | ^ 咖 | ^ 隔 | add
-90 alarm | all day | alle hühner | and me | aunt | baby , | dishwasher | dog | dritten | even | garten $ | hens
-90 hängt | hühner weg | i put | ich seit | in den | is off | it were | law | leute | move | off N | ohne garten
-90 one | only , | print | tea | that $ | then | took over | verschieb | whats | wieviel | wollte | wrote the
-90 ≈ an | 乔 | 侄 女 | 到 #amount | 博 | 奶 奶 | 我 要 | 收 到 | 的 不 | 的 同 | 盒 | 纸 了
-85 +aber | +abgegeben | +again | +bleib | +bosch | +break | +bub | +coaching | +frag | +geschichte | +go | +how
-85 +kitchen | +kollegin | +later | +mention | +milk | +münchen | +ob | +oder | +pass | +past | +print
-85 +seepferdchen | +sofa | +thrilled | +twins | +入 | +共 | +壁 | +慢 | +玩 | +目 | +闺 | , garage | , is | , told
-85 , 拿 | , 没 | = lol | = made | = next | = that | = till | N # | N bin | N doesnt | N havent | N vertrag | N yet
-85 ^ $ | ^ good | ^ write | a second | am ≠ | and put | as always | bike | came on | cleaner | come , | didnt =
-85 drone | fast | full , | glad | gonna | horfield round | jealous | keine N | last year | mal | maths | move the
-85 noch = | of his | out on | packed in | paper | parents | pool = | raus $ | replaced N | sag | sure | swim
-85 the #number | the bit | these = | thing $ | using N | wie immer | wrong = | xmas | ~ had | ~ was | ≠ gone
-85 一 千 | 主 | 也 = | 他 说 | 儿 子 | 公 也 | 共 | 准 | 去 = | 后 来 | 园 | 夜 班 | 大 宝 | 定 | 弟 弟 | 得 我
-85 改 用 | 是 ≈ | 是 大 | 目 | 素 | 要 | 贷 | 还 在 | 金 鱼
-80 ! third | #amount since | #daypart $ | #titled 出 | +about | +allen | +approved | +cottage | +d | +flipping
-80 +football | +found | +gefunden | +house | +ins | +motor | +nice | +physio | +sang | +sitze | +teds | +vote
-80 +xx | +übrigens | +下 | +宝 | +怎 | +托 | +海 | +网 | +血 | +醒 | , mine | , ours | , 二 | = costs | = it
-80 = what | = 得 | N am | N anymore | N mehr | N month | N wurde | ^ #days | ^ balu | ^ 五 | ^ 阿 | a table
-80 a vape | another = | aunts | balu | been ≠ | black | brace | der spätschicht | diese | dream | fighting | film
-80 for N | for october | go on | have a | hill | home 都 | ice | is still | it as | kidding | kollege | less
-80 lift $ | mit den | moved its | no longer | partys | physio , | raised her | says that | shop $ | since #amount
-80 since ≡ | standup | stays $ | switch | the #time | thinking | this ≡ | threw | to give | to move | train to
-80 um ≠ | und = | von der | wie | wifi | xmas $ | ≈ at | ≈ wohnung | 一 共 | 个 # | 今 晚 | 价 降 | 佳 | 像 | 到 ≡
-80 卡 | 去 吃 | 友 的 | 司 已 | 回 = | 媳 | 宝 | 床 位 | 库 | 我 去 | 报 告 | 晚 = | 烫 | 组 | 试 | 这 ≡ | 题
-80 饭 了
-75 # s | #titled 转 | +abend | +alle | +ate | +bald | +balu | +barclays | +between | +bloke | +body | +dragged
-75 +er | +froh | +frühe | +ice | +jealous | +long | +move | +natürlich | +normal | +osaka | +pair | +sechst
-75 +soul | +st | +stove | +table | +thing | +um | +wed | +乌 | +今 | +伙 | +会 | +姨 | +带 | +感 | +打 | +搭 | +旅
-75 +理 | +盒 | +睡 | +知 | +能 | +零 | , barclays | , lovely | , 烦 | = broke | = clinic | = den | = mother
-75 = stopped | = switched | = 要 | N all | ^ N | ^ claras | ^ the | ^ 嗯 | ^ 打 | allianz | and #titled | and has
-75 apartment | april , | are going | at ≠ | balu hat | barclays | barclays done | better $ | bike $ | brandl
-75 brandl ist | claras | claras gone | coffee | die N | done last | dry | electric , | finished the | flats
-75 friend | from me | grand | haben N | his = | home its | home 不 | if | imports | in #number | is | its for
-75 kitchen , | left at | level | made her | mit gls | nights | nimmt jetzt | nur die | of ≠ | on #number | on her
-75 pipe , | proud | shes been | spare = | staging | story | super | surname is | that in | the cottage | their =
-75 this once | to #titled | up on | was closed | weiß | what $ | wiki | ≠ N | ≠ 到 | ≠ 回 | 丁 | 上 = | 会 员 | 写
-75 单 子 | 同 学 | 嗯 | 外 卖 | 天 的 | 媳 妇 | 巴 | 店 庆 | 店 的 | 开 完 | 开 课 | 想 | 成 N | 我 , | 才 是
-75 接 送 | 搭 | 服 | 步 | 琴 | 用 飞 | 管 也 | 该 | 课 | 车 牌 | 齐 $
-70 #number | #time 才 | +angefasst | +ausm | +best | +bin | +bins | +brewery | +brown | +bullet | +cleaner
-70 +comes | +concert | +cos | +diese | +dritte | +drone | +fortnightly | +friend | +gelegt | +gloss | +guess
-70 +hip | +idea | +if | +lights | +list | +mail | +morgens | +nans | +op | +outside | +pippa | +quiet | +ring
-70 +strong | +switch | +test | +thinkpad | +total | +well | +whenever | +wrote | +≡ | +亮 | +决 | +删 | +南 | +同
-70 +地 | +微 | +摔 | +案 | +笑 | +笔 | +肉 | +腻 | +视 | +过 | +香 | +骨 | , ganz | , ging | , hes | , 门
-70 = alles | = at | = schon | N handing | N ist | N stepped | N wont | N ≡ | ^ split | ^ theres | ^ when | ^ 发
-70 ^ 猫 | ^ 表 | ^ 这 | a vote | above | arent | auch noch | auf die | bei ≈ | braces | clock $ | come back
-70 concert | corvane | covers | cut off | dads | die #number | died last | do we | drüben | eigentlich | etsy
-70 exam | extra = | fishing | flu | for his | frei | from N | gestrichen $ | getting a | getting it | got #amount
-70 grange | haben nur | hamster | hat schon | hedge | here , | him a | home now | home so | home 下 | hour from
-70 i could | in = | insurance is | jetzt um | just got | late | leaves at | lessons | mach ~ | meine N | meiner
-70 message | mir ne | mit N | mother is | neighbours | newsletter | opened a | or | our | paid , | pitch | pitch ,
-70 pull | raum | rooms with | rumour | sat , | says it | schreib | since ≠ | sister had | starts on | stefan
-70 swapped rooms | tell | than last | that the | the etsy | the grange | this time | to her | wann | was ill
-70 was late | well | werkstatt | what | wifes = | word | zip | ≈ 了 | ≠ today | 之 | 了 我 | 会 , | 借 | 共 是
-70 写 成 | 剩 = | 去 , | 双 | 发 烧 | 咋 | 墨 | 套 摘 | 妇 | 室 | 就 = | 工 钱 | 帮 我 | 庆 | 店 休 | 成 # | 报
-70 搬 到 | 数 ≠ | 文 | 是 #amount | 灯 | 用 了 | 纸 | 要 是 | 讲 解 | 闹 钟 | 院 , | 难 | 风 | 馆 | 验 小
-65 #amount 八 | #date | #date no | #titled = | +ab | +add | +arme | +aunt | +aunts | +balloons | +before
-65 +befördert | +beside | +bird | +bits | +blew | +call | +chair | +clean | +croissants | +cromer | +dann | +dark
-65 +deck | +fellow | +flats | +form | +ganz | +ill | +kidding | +knie | +make | +mama | +maybe | +message | +needs
-65 +neujahr | +newsletter | +of | +official | +oh | +own | +partys | +payment | +plates | +quasi | +quiz | +rather
-65 +sein | +sitz | +surname | +tabletten | +theres | +things | +vorm | +worker | +分 | +品 | +圈 | +坏 | +媳 | +当
-65 +把 | +抽 | +染 | +比 | +泡 | +灯 | +王 | +短 | +破 | +租 | +穿 | +花 | +象 | +赔 | , came | , day | , whats
-65 , woke | , 怎 | , 直 | = braucht | = but | = die | = fuchs | = insurance | = mate | = month | = opens
-65 = orders | = 来 | = 没 | N are | N aufgehört | N by | N to | ^ a | ^ and | ^ at | ^ morning | ^ 同 | ^ 数
-65 ^ 晚 | ^ 朋 | a new | a wedding | after last | ages | an N | and #number | and lost | anyway | app | as ever
-65 be nice | been put | before | being | bins | biscuits | blew | bosch | both kids | braucht nachts | calls
-65 cheers | council money | diesen | dinner | draft | due | eltern | employee | file | floor over | found the
-65 gcc | has ≠ | hause | he was | her fella | heut fünf | heute | heute die | i cant | i dont | ihm | is closed
-65 is it | is now | is that | ja , | jetzt #number | labels | landlord put | list $ | log | lost #amount
-65 meeting at | mehr N | mein mann | minutes | month since | my aunt | nachts keine | nee lass | not mine | not ~
-65 nächste | oliven | on gcc | one of | or what | pink | room | service | sich jetzt | sick , | smells | sold his
-65 something | super , | thanks for | the newsletter | the pipe | the report | the sofa | tmrw | to #amount
-65 tonight | und N | und jetzt | vergessen , | violin | wanted | we = | week | weg $ | wenn | when she | while
-65 wild $ | worker | ≠ in | 不 $ | 不 是 | 不 涨 | 从 腾 | 仓 库 | 会 | 你 说 | 克 | 到 # | 又 挂 | 吃 饭 | 吗
-65 嗯 , | 多 少 | 子 才 | 慕 | 房 贷 | 搬 去 | 支 | 时 | 果 = | 梯 | 气 $ | 没 人 | 添 了 | 王 | 琴 课 | 的 ~ | 笔
-65 第 #amount | 羡 | 羡 慕 | 范 | 让 = | 谢 谢 | 起 不 | 都 改
-60 #amount now | #date now | #days auf | #number since | #time and | #titled is | #titled 的 | +allianz
-60 +biscuits | +chapters | +cold | +cotham | +customers | +dads | +decided | +didnt | +even | +face | +fwd | +guy
-60 +hafermilch | +happy | +hedge | +herren | +ihren | +insta | +lassen | +loyalty | +made | +mum | +nachm | +nem
-60 +notsprechstunde | +nursery | +pension | +pfeift | +rumour | +runter | +say | +selber | +sogar | +theirs
-60 +trotzdem | +twice | +type | +unter | +unterschreibt | +whether | +wild | +worn | +你 | +吗 | +安 | +工 | +敞
-60 +测 | +混 | +熬 | +画 | +课 | +赶 | , back | , canteens | , da | , of | , swapped | , took | , 正 | = blew
-60 = das | = me | = number | = should | = unchanged | = want | = wie | N #titled | N = | N because | N daughter
-60 N flight | N gym | N hochgesetzt | N seit | N sind | ^ nephew | ^ replace | ^ right | ^ tell | ^ whats | ^ 下
-60 ^ 乔 | ^ 香 | a list | a podcast | afford ≈ | all over | always | always = | am #number | and N | angeblich
-60 auf = | aye | azubi | azubi mehr | back as | bis | bread at | brooks | btw , | called | called , | cant sleep
-60 canteens | canteens too | changelog | changelog from | chemistry | chemistry to | coaching | contract ,
-60 cotham | cron | da und | damit | dark | das schleppen | delivers | dentist $ | elternzeit | ex
-60 finished middlemarch | fittings | folder | for this | from chemistry | fürs = | garden $ | gcc #number | get
-60 give me | got there | had his | has | hers in | hes getting | home #days | home me | home 小 | home 着 | ich $
-60 ich hab | in this | in with | it was | its quiet | just | just moved | keinen azubi | kleinen zimmer | lastpass
-60 liked | lisinopril | lunch now | meine | met | middlemarch | middlemarch at | minutes from | move to
-60 my surname | new chain | november neu | number | number $ | on holiday | out again | own room | own ≈ | party
-60 party is | passed her | people | pfeift | played | podcast person | readme | rents | run from | says $
-60 school concert | second floor | seine = | seit = | seized | shame | she = | should = | since last | smoking
-60 stairs , | stale | tank | team | tell the | than me | the second | through lunch | today , | took = | tractor
-60 trainee | training | war nur | we were | website of | week instead | whether | windows | wo | workshop
-60 worktop | worn | year ≈ | zimmer , | zimmer auch | ~ alten | 专 | 乐 | 乔 乔 | 人 的 | 价 $ | 供 | 保 | 公
-60 动 车 | 又 添 | 后 #days | 商 | 啥 | 好 | 妈 现 | 存 | 室 友 | 差 点 | 年 调 | 应 | 快 递 | 打 算 | 提 醒
-60 搬 家 | 数 | 来 过 | 照 | 球 | 票 价 | 空 调 | 经 不 | 苏 州 | 跟 我 | 这 一 | 递 | 问 | 除 | 鞋 | 预
-55 #amount 啦 | #daypart 都 | #time last | #time 必 | #titled now | +allein | +amazing | +aye | +bett | +bude
-55 +but | +calls | +canteens | +carpets | +changelog | +coral | +dem | +dkb | +draußen | +drüben | +ein | +feed
-55 +file | +fittings | +flu | +folder | +fr | +fragen | +frei | +grand | +groups | +holiday | +keinen | +live
-55 +lodger | +mein | +middlemarch | +minimum | +minus | +morgen | +night | +nineties | +nix | +ourselves
-55 +parents | +puregym | +raum | +ready | +s | +schrebergarten | +shame | +single | +something | +staging | +stick
-55 +sugars | +sure | +tmrw | +traffic | +trainee | +vape | +versetzt | +violin | +votes | +waiting | +walks
-55 +waren | +wifi | +windows | +wobbly | +word | +事 | +供 | +再 | +受 | +味 | +售 | +嗯 | +庆 | +底 | +挂 | +期
-55 +椅 | +率 | +秒 | +罐 | +色 | +裁 | +轮 | +辆 | +道 | +面 | +风 | , #daypart | , danke | , der | , mines
-55 , was | , what | , 啊 | , 给 | = bei | = bub | = old | = 再 | = 吃 | = 师 | N ! | N any | N auf | N fox
-55 N gets | N south | N wedding | ^ am | ^ ich | ^ is | ^ kestrel | ^ order | ^ 护 | ^ 班 | ^ 网 | a chair
-55 a term | about renting | allotment | am N | answer | aufs N | ausnahmsweise | belt | betriebsrat | biscuit
-55 branch | carpets | chilli | code | correct , | corsa | cousins | deploy | did not | digicert | digicert for
-55 dirty | doing #days | down the | eigenes zimmer | elm | elm in | etsy for | fahre nicht | feed | fine $
-55 firm , | flu so | for all | fragen | gar nicht | geholt $ | got cut | got flu | groups | gut | gym no | hab =
-55 have stopped | her hip | hingeworfen | his N | home on | home to | homeoffice | horfield | i changed | i need
-55 i shall | i sold | i still | ich bin | ill | intern | is dirty | it this | jenkins 那 | junge , | just for
-55 kestrel | ladies | laughed | lazy | lemon | licence back | limits | lohn | lot there | mails | master
-55 milks any | minus ≈ | mobile | my licence | my shift | nach oliven | needs a | nineties | noch | notes
-55 oliven , | on top | once , | paragraph | partys on | photos | planning | prius | prius got | pump , | rain $
-55 rang to | ready | renting own | room since | s = | same ≈ | sausage | saw | senior | shame , | she is
-55 shift for | side was | skat | skat wird | slept | so nobody | sofa | south side | spare | spaß | steam
-55 story , | stuck | summer $ | swapped digicert | tears | the drum | the elm | the empty | the horfield
-55 the kiln | the laptop | the nineties | the prius | this = | time $ | told him | too , | too so | twins
-55 uncle off | us milks | wagen | wagen haben | wait for | wants me | week $ | weekend shift | went fine
-55 went well | will | won the | year $ | yoga | you | you know | zum | ~ in | ~ ≠ | ≈ #time | ≈ N | ≈ with | ≠ !
-55 ≠ ≡ | 乘 | 份 = | 全 家 | 别 的 | 到 = | 去 ≠ | 台 N | 啊 不 | 堂 | 好 $ | 姨 | 定 店 | 家 = | 小 提 | 店 =
-55 弄 混 | 挂 | 推 荐 | 提 琴 | 最 | 检 挪 | 死 我 | 没 纸 | 注 | 电 梯 | 的 | 站 | 第 | 老 马 | 荐 | 要 #amount
-55 语 | 请 | 豆 | 跑 ≠ | 路 口 | 醒 | 锁 | 长 | 险 今 | 饭 吃
-50 #amount 也 | #amount 那 | #days wohn | #number from | +angeblich | +answer | +ask | +ausbildung | +bacon
-50 +banging | +bed | +betriebsrat | +brace | +bruder | +burned | +coffee | +colleague | +conny | +copy | +deploy
-50 +der | +ding | +dirty | +fetch | +fit | +fully | +fun | +fährt | +fürs | +geklaut | +gestern | +hearts | +heil
-50 +here | +hingeworfen | +horrible | +imports | +intern | +ist | +ladies | +lahm | +lazy | +leitung | +level
-50 +limits | +load | +loaf | +lovely | +lungs | +mann | +minutes | +mit | +mitglied | +moana | +namen | +piers
-50 +plastic | +played | +plumber | +pool | +prefers | +registry | +road | +sag | +scores | +seinem | +skipped
-50 +slated | +soft | +start | +story | +straight | +suggest | +teamleiter | +tears | +top | +train | +trainer
-50 +wieviel | +wo | +workshop | +zeke | +≠ | +乔 | +享 | +内 | +几 | +又 | +咬 | +头 | +存 | +室 | +岸 | +建 | +徐
-50 +格 | +楚 | +爸 | +荐 | +记 | +部 | +铁 | , best | , brendan | , christmas | , ex | , na | , naturally | , send
-50 , senior | , shame | , where | , wieviel | , 吓 | , 就 | = beim | = dem | = gave | = groups | = mir | = raised
-50 = sieben | = then | = though | = until | = with | = 做 | >26 | N down | N lost | N nich | N passed | N sports
-50 N time | N und | N won | N ~ | ^ ab | ^ aye | ^ consultant | ^ if | ^ nearly | ^ rents | ^ teddys | ^ this
-50 ^ zeke | ^ 老 | ^ 行 | a #days | a drone | after N | ages , | and still | apnoeas | apnoeas gone | are N
-50 at the | auf N | aylin | aylin zu | before i | bei aylin | beside = | between | black belt | bonn | bother with
-50 brendan | brendan went | bulb | cards | centre down | comes at | confirm | dann | decided $ | declan
-50 deploy on | do you | drei , | eating baguette | empty #amount | erst um | ersten N | es = | fetch | fog | font
-50 fun | fun $ | für | für die | garage , | gate | gave terrys | gdansk | gerade | gig | glaub | go with | haare
-50 had ≈ | hamster and | hat der | have #amount | he does | her from | home ! | home again | home all | home 们
-50 i went | immer ≡ | in winter | it over | jira | jira , | joined = | juniper | k $ | key now | kiln | klar
-50 klar , | knie | kürbisse | kürbisse $ | late , | left N | like butter | lindenstraße | lindenstraße , | lock up
-50 long | loose | läuft jetzt | mabel | memoir | memoir , | more N | motability | moved | name wrong | naturally ,
-50 neighbours = | nephew found | newsletters | newsletters N | nhs | nix $ | noch kürbisse | not moving | offered
-50 office to | on him | on port | other = | past ≈ | piano | plan for | pond | puregym | ready now | replace
-50 rest $ | river | roast | robbery $ | schools | selling the | senior as | signed , | since #number | sind wir
-50 skipped | so both | so neither | sprints | suggest | swapped to | talking | teddys | teddys first | tee
-50 term for | tern | terrys job | the cat | the chilli | the intern | the memoir | the motability
-50 the newsletters | the pond | the stand | them back | then $ | theres a | third time | tickets | til | to normal
-50 tyres and | unit #amount | up coffee | vor = | wait | was shut | wasnt | we are | well $ | went up | what =
-50 windows $ | wir die | with the | wohn | wohn ich | won #number | yes , | yes please | yet , | yusuf | zeke
-50 zeke wants | ~ kommt | ~ shut | ~ went | ≈ 一 | ≠ with | ≠ 才 | ≠ 现 | ≡ ! | ≡ it | ≡ 说 | 东 是 | 个 | 习
-50 了 上 | 你 给 | 关 门 | 到 实 | 医 保 | 叶 | 咯 周 | 回 办 | 坏 了 | 壁 | 年 | 年 #amount | 年 去 | 广 告
-50 底 $ | 快 | 把 超 | 拉 的 | 改 写 | 改 跑 | 明 | 是 的 | 末 闲 | 水 , | 测 试 | 满 #amount | 班 车 | 琴 了
-50 知 道 | 礼 | 老 公 | 超 市 | 路 #date | 钟 | 门 牌 | 陆 | 食 堂
-45 # of | #daypart 那 | #days 也 | +acht | +adapter | +alte | +apartment | +aus | +badge | +balkon | +banger
-45 +begin | +bei | +biscuit | +bitte | +bonn | +camera | +confirm | +cousins | +cried | +edition | +fast | +feels
-45 +film | +fishing | +fitted | +fortnight | +frist | +full | +gets | +grans | +ha | +horfield | +ive | +jena
-45 +juniper | +kestrel | +kurze | +lad | +lass | +liked | +local | +lohn | +lollipop | +lounge | +mammy | +memoir
-45 +met | +mirko | +nells | +nen | +oliven | +point | +problem | +pull | +renting | +rücken | +service
-45 +shrinking | +skat | +spaß | +stops | +taking | +talk | +tasche | +teddys | +tickets | +wagen | +wann | +wants
-45 +wasnt | +watching | +whats | +win | +乘 | +们 | +价 | +六 | +割 | +另 | +围 | +妹 | +娃 | +护 | +拍 | +教
-45 +无 | +松 | +桶 | +检 | +社 | +福 | +科 | +试 | +谢 | +运 | +野 | +陆 | , dentist | , please | , suggest
-45 , zum | = mich | = time | = unverändert | = wouldnt | = ≡ | = 号 | = 里 | N ab | N ade | N erst | N father
-45 N go | N haben | N lives | N nehme | N year | ^ candles | ^ choirs | ^ homeoffice | ^ lads | ^ nells | ^ 电
-45 ^ 知 | ^ 菜 | ^ 项 | a charity | after ≈ | all good | allianz zur | arrow | arrow , | asked if | auf #amount
-45 auf #number | aye , | beans | because of | begin | between ≈ | binned blue | bis N | blood | blue arrow
-45 bonn los | bought the | buy bread | cake | candles | chain | choirs | coffee altogether | cron to | cut my
-45 dave | deliver | der allianz | did i | diese woche | different | doesnt | down in | evening N | every winter
-45 every ≠ | feed , | for | for anymore | found it | gestern bestanden | gestern ≈ | glaub ich | got changed
-45 grand , | grant | had | has raised | hated N | hates it | hit ≈ | home 子 | home 开 | homeoffice ist | hätten
-45 i havent | i picked | ich gestern | ich schon | instead $ | interview | ist bonn | it after | its office
-45 keeping poultry | kindle | label | lena | luca | luck | läuft | month only | more trainee | my evening
-45 nachbar | nells | never keeping | new boyfriend | new people | new ≈ | newsletter from | nicht von | night feed
-45 noch einen | not today | nur = | office afternoons | oh sure | on level | on meeting | outside | over $
-45 overnight | overnight , | per | plant | pupils | recipe | remind | renamed , | rote | schools so | seconds
-45 send | shifted pension | so no | soft | spaß , | started , | stays as | still do | stops | taken up | the guest
-45 the rota | the schools | the studio | the warfarin | this N | through my | ticket , | till #days | time to
-45 to plan | to take | too while | trainee $ | tues same | turned ≈ | up my | venue too | von = | warfarin
-45 warfarin , | we buy | weder N | went = | ~ = | ~ 上 | ≠ has | 不 在 | 不 通 | 业 批 | 乐 乐 | 今 天 | 从 单
-45 位 叫 | 养 | 内 | 利 率 | 别 用 | 到 两 | 单 身 | 叫 陆 | 可 | 后 过 | 回 他 | 团 | 在 管 | 坏 | 坑 首 | 壁 老
-45 天 = | 天 买 | 学 小 | 尔 的 | 差 | 市 盘 | 您 | 成 #time | 成 ≡ | 房 租 | 挪 到 | 是 | 是 十 | 楼 | 狗 | 琴 ,
-45 用 , | 礼 推 | 票 酒 | 管 账 | 账 了 | 账 的 | 跑 外 | 都 不 | 野 | 门 | 隔 | 面 | 首 尔 | 麻
-40 #amount hour | #amount warn | #amount 关 | #date it | #days | #days N | #number , | #number on | +a | +ages
-40 +alarms | +alter | +apixaban | +app | +aylin | +black | +boss | +brendan | +coal | +deliver | +earlies | +emil
-40 +ex | +flexible | +frame | +freezing | +friends | +futon | +gdansk | +gig | +gym | +im | +itll | +kannst
-40 +keys | +l | +letztes | +lock | +loose | +market | +meint | +mud | +music | +near | +needle | +newsletters
-40 +nobody | +offered | +or | +overnight | +plant | +plants | +pond | +pupils | +remains | +rents | +river
-40 +rolls | +seconds | +shaven | +shrunk | +slide | +soon | +soup | +stubborn | +talking | +taxischein | +teenager
-40 +thesis | +towel | +v | +vertritt | +wecker | +weighs | +wg | +what | +where | +while | +year | +yusuf | +假
-40 +净 | +墨 | +左 | +想 | +机 | +梯 | +游 | +然 | +财 | +躺 | +辣 | +键 | +长 | +龟 | , bundle | , burner
-40 , dass | , hall | , lastpass | , poor | , rest | , 学 | , 食 | = again | = also | = brought | = ein | = every
-40 = jetzt | = nachbar | = put | = steht | = wasnt | = week | = 修 | = 家 | = 走 | ? ? | N almost | N and
-40 N council | N finished | N office | N 和 | ^ danuta | ^ datadog | ^ dishwasher | ^ emil | ^ für | ^ ivos
-40 ^ kezias | ^ local | ^ sandpits | ^ speaker | ^ vor | ^ yusuf | ^ 儿 | ^ 测 | a good | account has
-40 almost switched | amazing $ | amlodipine | ask me | asked for | ausm N | backup | bands | been merged
-40 behandlungsräume | behandlungsräume $ | bleibt = | brothers | bundle | bundle down | burner stays | but no
-40 canary | cancelled puregym | chemo yesterday | coal | coat | cottage | course = | crying | danuta kommt | das N
-40 datadog | day is | der N | dishwasher plumbed | doing nan | double | drum | emil | emil kickt | fee is
-40 fella $ | four $ | frame | garage echoes | gate , | gregor | haben die | has = | header | hers | home $
-40 i quit | i rang | ibuprofen | ill , | in laws | is full | is very | ist der | its #amount | ivos | ivos biopsy
-40 jetzt noch | keinen | kezias | kezias emigrated | labels , | lang | last ≡ | lease can | libre | local | logo
-40 mate | mate N | meint | merged with | more of | my lease | my plot | my wife | myself now | nan on | nans
-40 no voucher | not sure | not that | note to | now actually | now i | now without | of course | of selling
-40 old place | passports | passports in | playlist | plot | port #number | put a | put them | remains
-40 remains our | rice | s N | sandpits | sandpits decommissioned | saw it | seconds altogether | sein | send a
-40 sheep | shes = | sie = | smoking for | so #number | sourdough | speak every | speaker | speaker died
-40 staging = | still on | talking about | taught | test = | thank you | thanks | that she | that to | the
-40 the depot | the flat | the food | the passports | the pool | the seconds | the timetable | thesis
-40 they shifted | till ≈ | time since | towel | trello | trinkgeld | twice | us work | vertritt | vertritt ihn
-40 very | violin , | voucher | voucher needed | weighs | went heat | went off | wifes | with smoking | work =
-40 work on | wouldnt start | yara | yeah right | yet | zieht | ~ 已 | 不 错 | 个 = | 中 #amount | 中 , | 乐 上
-40 二 中 | 交 了 | 几 | 到 #date | 割 接 | 北 | 又 不 | 吃 | 围 | 在 ≈ | 在 没 | 堂 太 | 多 | 奶 喝 | 婚 礼
-40 定 期 | 开 二 | 开 会 | 手 三 | 晚 割 | 有 道 | 期 昨 | 测 | 球 $ | 的 房 | 笔 定 | 舞 | 菜 | 跑 到 | 转 学
-40 道 会 | 那 ~ | 隔 壁
-35 #amount about | #amount minimum | #amount 了 | #days nights | #time #daypart | #titled retired | +#amount
-35 +apple | +backe | +bands | +behandlungsräume | +centre | +change | +chemo | +cigarettes | +crave | +cream
-35 +dave | +different | +einundzwanzig | +electric | +fish | +fog | +four | +gelandet | +geschrieben | +guests
-35 +halt | +header | +helping | +hopefully | +id | +isnt | +kita | +laser | +lena | +logo | +lorry | +lottery
-35 +marrow | +my | +neue | +paying | +plaster | +roast | +samstagsdienst | +schools | +slugs | +takeover | +tell
-35 +thanks | +tüv | +viel | +walk | +were | +will | +zimmer | +zur | +乙 | +出 | +发 | +吴 | +团 | +妇 | +尾 | +德
-35 +您 | +数 | +汇 | +礼 | +糯 | +薪 | +连 | +额 | +飞 | , balconys | , does | , heißt | , one | , papyrus
-35 , saltmarsh | = #date | = aber | = keeps | = room | = 换 | = 照 | N gewechselt | N gone | N ins | N print
-35 N spells | N taken | N 订 | ^ boxes | ^ chandelier | ^ egencia | ^ ghents | ^ i | ^ nans | ^ neighbours
-35 ^ zeit | ^ zwickau | ^ 到 | ^ 楼 | ^ 结 | ^ 西 | ah | all = | also #number | and you | auch #days | balconys
-35 balconys bare | bank closed | bleibt bei | booked us | boxes come | brothers = | bus | came off | chandelier
-35 company $ | correct | covers , | cream | day ≈ | dazu | dem N | die rote | down again | driving test
-35 dropped his | each week | egencia | egencia contract | einen gesellen | ever , | fantasy | father cannot
-35 first tee | flight | fly | für = | gesellen | gesellen $ | get done | gets in | ghents | ghents closing
-35 have = | he turned | her $ | herself N | heut | hips in | i kept | i liked | i read | ice cream | ich da
-35 im the | in c | in later | into = | isnt on | it here | january , | jetzt #amount | key | later | later since
-35 left trello | logo $ | lottery | luck $ | läuft weiter | mabel on | make | matinee | me each | more covers
-35 my fantasy | my telecaster | nans moved | new hips | no pies | no worries | nochmal | now $ | off until
-35 office lease | orla | papyrus | papyrus deinstalliert | pay the | payment | phew | phew $ | pies any | pixel in
-35 podcast | ramipril auf | rota my | rote N | runter auf | saltmarsh | saltmarsh is | saying | schlafzimmer
-35 schlafzimmer , | scrapped #days | shift | slugs | sold it | spiele jetzt | sucht | sugars | takeover
-35 takeover $ | talk to | tariq | tee off | telecaster | telecaster to | terrys | test | the lottery | the pixel
-35 the takeover | the tickets | the tongue | them this | theyve a | tickets for | time now | to an | tongue
-35 tongue bar | trello , | van its | vor zehn | vote | wants | was empty | worries | worries , | years ago
-35 you make | zeit abbestellt | zwickau | zwickau machen | ≠ been | ≠ the | ≠ to | ≠ 出 | 不 再 | 中 音 | 买 四
-35 了 #amount | 了 谢 | 他 $ | 他 , | 减 了 | 加 | 动 $ | 千 五 | 博 士 | 又 坏 | 右 眼 | 在 教 | 太 生 | 夫 给
-35 奶 减 | 宝 , | 客 也 | 工 位 | 店 | 您 , | 我 喝 | 按 #amount | 改 学 | 改 成 | 来 = | 椅 | 爱 上 | 生 分
-35 用 您 | 画 | 的 电 | 知 | 给 = | 给 奶 | 老 周 | 谢 我 | 道 | 部 , | 门 , | 音 部 | 驾 照
-30 ! orla | #amount is | #number $ | #titled for | +allergologen | +arlo | +birken | +boxes | +braces | +broken
-30 +brooks | +cant | +cataracts | +charity | +coat | +correct | +crossing | +dacre | +dinner | +fingern | +gearbox
-30 +gesellen | +gesellenbrief | +gesund | +gräser | +hammer | +kangoo | +können | +landlords | +libre | +mad
-30 +nadeln | +niesen | +pipe | +rained | +rot | +spalding | +spritzen | +stricken | +sucht | +swimming | +tonight
-30 +weißt | +wheel | +worries | +zombie | +右 | +堂 | +套 | +实 | +牌 | +苦 | +锡 | , bashir | , earlies | , 一
-30 , 房 | = fix | = won | N after | N didnt | N is | N sprang | N walked | N we | ^ arlo | ^ dacre | ^ dry
-30 ^ ludos | ^ 今 | ^ 刘 | ^ 金 | again | are not | are up | arlo | arlo started | at N | at ≈ | ate ≈ | bashir
-30 bashir sold | beers | bin so | both cataracts | change | changed its | cigarette since | covid | dacre
-30 dacre lost | darts | darts , | der jhv | die leitung | diese N | ditched jira | double booked | dry jan
-30 earlies from | fleisch gegessen | frankfurt | frankfurt , | fährt | gets N | got | hand in | has cut | hat mit
-30 hat seit | heil | heißt | i only | is a | isnt ≡ | it out | it starts | jab | jab done | kindly | leitung
-30 leitung zurück | let us | longer | lost the | ludos | ludos moved | lunch | mill | more ≠ | my coat
-30 new passport | new price | nicht renate | not us | nächsten #days | offered me | on squat | only = | orla had
-30 paid uncle | passed , | passport came | pay us | penicillin | picked up | pipe | poor N | pulling #amount
-30 rained | remind me | renate | renate , | rhubarb | rhubarb n | shed | shop | side | sisters | size | so lang
-30 squat | squat today | studio $ | teamleiter | teamleiter , | the N | the darts | the delivery | the internet
-30 the rhubarb | they say | they went | thinkpad | trek | um halb | until N | up #daypart | vier behandlungsräume
-30 waschmaschine | were open | weve left | wieder fleisch | wieder teamleiter | wild | wk | yara so | years
-30 you had | ~ , | ≈ off | ≠ 没 | ≡ from | ≡ is | 不 好 | 个 安 | 主 管 | 亩 | 保 转 | 做 外 | 十 七 | 卓 | 卓 屏
-30 周 末 | 士 , | 安 卓 | 岗 ≠ | 帮 | 怎 | 怎 么 | 来 的 | 海 | 说 反 | 进
-25 ! and | #amount left | #amount 清 | #days since | #time 打 | #titled died | +away | +bunk | +cards | +email
-25 +ffs | +for | +gläser | +grandson | +hour | +keeping | +laden | +materials | +neighbour | +party | +penicillin
-25 +uns | +vier | +一 | +三 | +劳 | +暑 | +签 | +频 | , phew | = kollegin | = paid | = 全 | N handed | N landlord
-25 ^ arties | ^ opened | ^ oven | ^ tariq | ^ 送 | about | all fittings | arties | arties my | back from | car ,
-25 changed , | daylight | daylight robbery | die erste | down once | dropped the | fennel with | fits
-25 fittings there | floor | free lunch | gate sales | go back | got #titled | half from | has a | have renamed
-25 hes not | is black | is my | jetzt erst | kirchenchor | late $ | loan | mann $ | me #days | mother | nen
-25 netflix | no gate | now #amount | oder $ | often , | old #amount | on nights | our steel | oven died | rise !
-25 roasted fennel | six , | so ne | spring , | statt N | steel supplier | supplier since | sure , | take out
-25 the chair | theres | too $ | und endet | verlängert und | was my | wurde verlängert | ~ N | übrigens | ≠ so
-25 万 四 | 专 业 | 刘 叔 | 叔 过 | 口 撤 | 子 现 | 慢 | 摆 路 | 改 签 | 是 #time | 某 博 | 腻 | 英 | 行 | 车 线
-25 转 专 | 这
-20 #amount been | #amount 全 | #amount 只 | +bored | +bossing | +exmatrikuliert | +ich | +lauf | +macht | +morning
-20 +paragraphen | +puff | +send | +wird | +万 | +代 | +商 | +天 | +撑 | +绣 | +铺 | +镜 | +项 | , bed | , daylight
-20 = aus | N kommt | N so | ^ pohlmann | allergic to | along | am coaching | at cards | bed til | carpets out
-20 coaching the | die hebebühne | fasting | fired | froh | für den | gym | havent | hebebühne | hebebühne hab
-20 i hand | i said | laser for | let N | meine eltern | neue N | new rota | no , | no laser | not my
-20 notsprechstunde bis | once | pohlmann | seven ! | shall | so froh | the carpets | to N | to go | up at | w the
-20 was | winter | ~ $ | ≈ 来 | 在 #time | 点 #time | 电 动 | 负 #amount | 踢 | 送 孩
-15 #amount zu | #number erhöht | +garantie | +jeden | +mi | +milks | +pohlmann | +sal | +shearer | +still | +别
-15 +搬 | = zwei | = 们 | >6 | N noch | across | batch | chucked the | clock | die zwei | eltern wissen | gloss
-15 gloss ! | ist so | jez #amount | keeping | kept | lage ≈ | me a | mich = | moon | my driving | no ≈ | off on
-15 out my | papers lol | pohlmann kriegt | powers #number | puregym , | seit gestern | stamp collection | there $
-15 whole stamp | ≈ 期 | 不 跑 | 中 | 休 了 | 发 | 告 | 壳 都 | 电 话 | 纸 壳 | 给 #titled | 英 语 | 见 纸 | 赶
-10 #amount hr | #date $ | +examiner | +fired | +head | +side | +vertrag | +包 | +宜 | +标 | , b | , how | , 主
-10 ^ robbo | ^ 代 | a day | along $ | chair at | go to | i love | im team | is da | my mates | over it | pies
-10 robbo | robbo coughed | seit märz | spotify , | team jetzt | this one | up with | vom N | vorgezogen | walk to
-10 wegen | 变 成 | 妈 , | 慢 , | 用 啦 | 章 | 说 过 | 还 给 | 镜 | 阿 姨 | 项 目
-5 #number a | +line | +screen | , 工 | ausm | five | from a | haha $ | in as | isch | jetzt steht | mann
-5 my sisters | pump | somebody | steht ne | this month | to main | week and | zimmer | 千 | 去 $ | 开 了
5 +christmas | +drei | +him | +nothing | +six | +排 | +越 | , doctors | , were | , 还 | ^ migration | ^ vertrag
5 altogether | an einen | at uni | both $ | bought a | cage | cant | clinic | die ≈ | do not | doctors | foot
5 home 到 | monat | the cold | took it | unheard | vertrag ist | was upgraded | 个 不 | 你 一 | 减 | 制 | 千 二
5 叔 | 家 了 | 弃 | 桌 | 统 一 | 雨
10 +doch | +know | +oben | +price | +sich | +weekends | +why | +wohnung | +zwei | , 人 | , 徒 | = hand | N an
10 N wrong | ^ cut | all to | alte ist | bank holiday | beides | eingezogen | gitlab | green | ground | handed
10 it i | july | of #days | own place | the landlord | took him | were N | ≈ to | 也 有 | 了 小 | 去 西 | 弟 没
10 脚 | 锡 !
15 #titled 电 | +discharged | +down | +front | +good | +leider | +midnight | +rent | +same | +原 | +够 | +算 | +米
15 +经 | +降 | , bye | , sold | , 改 | = 妈 | = 已 | and were | at christmas | bitte | bitte in | by the
15 forward to | funeral | hand , | has given | its just | made up | main | move , | my sister | my son | no going
15 not ours | plug | quit = | switched from | the move | the party | the sugar | thing , | third = | tues ,
15 unbefristet | was moved | went in | what N | wurde | zwanzig | ≈ on | 不 | 乳 | 做 = | 光 , | 各 | 奶 了 | 新
15 是 = | 的 是 | 省 | 给 我 | 饭 $
20 +class | +drin | +ground | +kit | +school | +sign | +surgeon | +她 | +收 | +望 | +烂 | +留 | , bei
20 , explorers | , we | = on | = verschoben | N sister | N who | ^ darf | ^ den | alten | be a | been | believe
20 bleibt wie | by teatime | changed | checked | come = | der bub | desk | drei | drin | explorers | explorers as
20 first $ | girlfriend | got #number | her boyfriend | images | images stay | in my | in ≠ | l | mehr $ | mi
20 mit seinen | money | my hand | myself from | nah | neun | nie wieder | number ≠ | of ~ | on N | passed | sat on
20 signed off | site | sleeping on | son in | spielt | teatime | the images | the whole | tues | up the | wants ≈
20 with | yep , | zurück | 也 跟 | 了 ≠ | 了 学 | 住 了 | 充 | 凉 | 叉 车 | 号 | 吉 | 后 都 | 子 了 | 工 厂
20 我 从 | 推 | 有 | 机 号 | 校 车 | 没 它 | 籍 | 觉 $ | 调 到 | 调 去 | 跟 = | 通 $ | 频 也
25 +card | +cruise | +english | +explorers | +game | +sadly | +stopped | +保 | +刘 | +剩 | +掉 | +敏 | +禾 | +苏
25 +蛋 | +被 | , as | , cut | , schon | , 今 | , 甲 | = been | = cant | N found | N from | N steht | N wasnt
25 ^ physics | ^ renamed | ^ two | a big | acht $ | always was | and run | anymore $ | are by | bad $ | be
25 been in | call me | cuts | dem | discharged | door $ | driver | einen = | enough | fete | garten | gezogen $
25 girl , | gym as | hat es | house | in and | in april | in her | is right | isnt = | itself | jenkins
25 jetzt der | july , | longer , | measured | mit = | net | nimmer | nimmt | off to | on , | out , | passed =
25 peace | pets | physics | physics doubled | point , | proper | raised my | ran out | range | reichen | reichen $
25 schedule | schwester $ | sell | spielt jetzt | starts | strom | successor | sweating | the account | twelves
25 und | under twelves | we bought | we can | weds | when it | ~ as | übergeben , | ≈ of | ≠ not | 一 身 | 东 涨
25 也 不 | 也 八 | 们 的 | 全 换 | 头 | 字 $ | 彻 | 彻 底 | 我 戒 | 找 #titled | 拍 | 挪 去 | 断 | 月 起 | 立 | 续
25 肩 | 西 安 | 话 来 | 身 轻
30 # with | #amount a | #amount apart | #amount in | #days 那 | #titled wants | +bahn | +booked | +brauch
30 +chuffed | +date | +eyes | +fridge | +goes | +heating | +merged | +mine | +mums | +needed | +overbooked
30 +places | +slid | +spielt | +teilzeit | +timetable | +wach | +wagon | +you | +全 | +印 | +器 | +国 | +备 | +对
30 +州 | +日 | +电 | +睛 | +西 | , cfo | , done | , macht | , pulled | , since | , zweihundertfünfzig | , 换
30 , 翻 | = being | N enough | N test | N with | ^ der | ^ jenkins | ^ malte | ^ nicht | ^ 两 | ^ 乙 | ^ 诊
30 and the | aufsichtsrat hat | beach | before $ | beiden | brauche ich | brought forward | by #amount | card ,
30 caught | chapel , | curate | dead , | delayed until | did for | die wohnung | early , | easter | eat bread
30 einschläfern | einschläfern lassen | ersten = | fees had | finn hat | five , | fixed at | folded | full time
30 funding | fwd to | gar | geklatscht | geklatscht $ | gibt es | git | got a | have #number | have puppies
30 hochgesetzt , | home own | home since | hundert | hundert N | ich sehe | ich weder | im on | in feb | in today
30 is = | is empty | it ! | it costs | ive | j , | kinder | kommt | landed | lease ran | lie in | makes
30 makes two | malte | malte haben | meant N | moved it | nimm | nun mit | nurse | of our | only a | op brauche
30 pam | personalmangel | personalmangel , | posters | posters , | potatoes $ | probe | pulled the | puppies
30 puppies any | quicker | retired , | sagt | sehe | sehe hundert | ship | sooner | start | still #days
30 stopped = | stunde | surgeons | swimmings | swimmings off | tess | the beach | the chapel | the kids | the old
30 the posters | the wagon | to drop | to have | transferred | vegan since | wagon | was delayed | went with
30 work , | xmas , | zweihundertfünfzig | zweihundertfünfzig $ | ≠ of | ≠ since | 一 的 | 不 = | 两 个 | 乙
30 乙 厂 | 了 $ | 了 七 | 人 碰 | 们 在 | 出 去 | 别 ~ | 厂 裁 | 去 银 | 喽 $ | 回 黑 | 在 # | 女 | 带 娃 | 徒
30 徒 弟 | 怕 了 | 成 #daypart | 我 把 | 戴 内 | 房 , | 提 | 班 归 | 用 接 | 甲 班 | 管 了 | 老 戴 | 考 了 | 色 了
30 行 把 | 让 人 | 诊 所 | 说 #titled | 过 | 配 | 黑 色
35 #date haha | #date 起 | #time at | #titled 说 | +, | +attack | +aufgehört | +beavers | +bonfire | +box | +cub
35 +curate | +dauerhaft | +dreh | +eigene | +gehabt | +heart | +ideas | +invested | +learned | +lehre | +lives
35 +measured | +nope | +offen | +pack | +plug | +posters | +rests | +swimmings | +tage | +tausend | +tip | +too
35 +traded | +trained | +turn | +upstairs | +wand | +已 | +布 | +毕 | +胖 | +茶 | +订 | , could | , curate
35 , cuts | , did | , growth | , hers | , mums | , robbery | , sod | , surgeons | , unbefristet | , unpacking
35 , von | , weds | , zero | , 如 | , 挪 | , 无 | = can | = fixed | = had | = man | = spätschicht | = 了 | = 摘
35 N aufs | N danke | N site | ^ bio | ^ do | ^ english | ^ git | ^ jodies | ^ na | ^ traded | ^ with | a note
35 a school | a while | all $ | alle = | alles | am not | and im | and ive | as my | at my | autumn , | back clear
35 belly up | bleibt | bleibt $ | both of | bought my | but #number | chap wants | charge | correction | curate as
35 days so | dearer | delayed | dentist , | die ~ | effect | eleven | er ist | erst | es | exactly what | finger
35 finish | first | funeral in | ganze N | gateway | geblieben | geblieben $ | get = | gewechselt | got the
35 green , | growth | handball | he got | her keys | him an | hob | home place | home 走 | i walked
35 ich aufgegeben | ich nur | iphone ≈ | is mine | is out | ist | ist auf | ist verkauft | ist ≈ | it goes
35 jetzt dauerhaft | job | jodies | k | keep writing | keine = | kunden | leave so | leider | lights same | list ,
35 married | mit ~ | mum says | my own | neither , | new hip | nicked | no point | nothing | now go | of damp
35 of today | off for | off today | ohne | ok so | other $ | our own | over | paar | renamed to | rent on
35 reversed | rid | rid of | run $ | runs $ | runter , | salsa | same value | school now | sea | settled $
35 she minds | she reckons | shifted | shifted to | since he | six | skip | so all | studio | swapped | tea lights
35 that my | that over | the fete | the girls | the job | the normal | the plug | the window | theyve scrapped
35 to #date | to finish | to sell | too much | took that | travel , | um #time | und der | unpacking
35 unpacking as | unverändert | unverändert $ | up a | vs | w N | was after | was renamed | wee funeral | week ,
35 whole | wir auch | words | writing un | yesterday | you the | ≈ , | ≈ now | ≠ , | ≠ 不 | ≡ | ≡ of | ≡ to | 三 ,
35 不 做 | 乐 天 | 了 #time | 产 | 分 了 | 十 二 | 司 | 司 #date | 天 拜 | 妹 急 | 就 | 提 了 | 提 前 | 期 | 江
35 生 说 | 留 着 | 看 一 | 粉 了 | 约 | 经 #amount | 给 | 给 大 | 装 好 | 边 的 | 验 | 高 了
40 ! card | #amount an | #amount keep | #amount no | #amount 吧 | #days , | #time from | #titled me | +after
40 +aufm | +bags | +broke | +brought | +btw | +caught | +damit | +feb | +fertig | +fete | +from | +geh | +handing
40 +hob | +hockt | +look | +main | +mir | +name | +now | +nurse | +pam | +personalmangel | +plenty | +pulling
40 +quicker | +reichen | +sod | +successor | +tankard | +third | +towbar | +verein | +verschoben | +whatever | +债
40 +司 | +太 | +成 | +输 | +遍 | , cage | , dropped | , gone | , rain | , someone | , tess | , too | , 转 | = cut
40 = finished | = food | = rang | N account | N kind | N lass | N place | N started | ^ everyones | ^ haben
40 ^ mit | ^ packed | ^ 一 | a week | actually $ | allergic as | already $ | an e | and was | any longer
40 aufgegeben | baby | beat him | because her | been selling | bees , | bei den | better | bikes | bitte ,
40 bless her | bones | books , | born | both | box after | boxes | by hand | cage is | cancelled $ | car with
40 card ideas | coming | d $ | damp | dance | days is | ddwrt | ddwrt , | den #number | der alten | do the
40 dont pay | dort | effect in | end | end of | everyones moved | face | fahre kein | fertig mit | fete brought
40 fireproof | fireproof box | first time | flexible hours | for #days | for everything | from kent | full | für ≈
40 gave you | geh ich | geht auf | getauscht , | goodness | goodness , | grad school | gumtree $ | habe die
40 has her | has sold | has stopped | have changed | hes got | him $ | hinterm | home out | home 回
40 hours approved | hühner | i see | in spring | ist wieder | its = | its a | its ddwrt | j | jetzt immer | kent ,
40 kind , | lad in | last review | late for | lehre | little | live | managers job | mateos | maybe $ | mein N
40 migraines | migraines , | miles | mine $ | moans | morning | moved in | mum n | must have | my migraines
40 my soul | myself | n | nan ? | need ≈ | nein | new line | nicht ≈ | no thats | noch dabei | normal | nowadays
40 nudeln | nursing | oat | of N | of them | offen , | ok , | old for | on gumtree | on that | outside instead
40 own = | piece | plug on | pounds | reckons $ | register | review , | robbers | ruhig | salary | salary went
40 seating | seit drei | selling like | seven $ | she also | she gave | since jan | site fees | sold ≈ | soul to
40 spelt | stop , | surgeon | swapped the | tag , | talked #amount | thank goodness | that for | that i | the bees
40 the damp | the fireproof | the garage | the grey | the managers | the seating | the under | there | to pick
40 towbar car | und fahre | using = | von #amount | von gestern | waiting list | we do | week the | went back
40 who , | ~ 吧 | ~ 换 | ≈ came | ≈ clean | ≈ hour | ≠ der | ≡ as | ≡ 退 | 三 十 | 两 | 个 小 | 个 的 | 也 还
40 位 没 | 倒 | 充 电 | 分 成 | 别 | 同 意 | 后 ≠ | 和 = | 四 | 回 | 回 老 | 多 睡 | 已 经 | 归 | 怀 里 | 我 又
40 我 留 | 才 回 | 把 = | 散 | 断 ≈ | 早 | 是 阿 | 欣 | 没 了 | 的 还 | 看 | 睡 会 | 祥 | 老 太 | 老 师 | 肩 膀
40 膀 | 膝 | 膝 盖 | 订 单 | 请 了 | 起 涨 | 里 的 | 院 了
45 ! start | #amount den | #amount t | #amount was | #amount 才 | #daypart now | #daypart 去 | #daypart 游
45 #days ! | #number for | +ach | +arbeite | +backwards | +beach | +bríd | +care | +cats | +club | +court | +cut
45 +cuts | +dazubekommen | +ddwrt | +delayed | +ebay | +evening | +gateway | +geblieben | +girlfriend | +got
45 +handball | +healed | +helix | +hol | +hundred | +hurry | +its | +kill | +last | +laugh | +longer | +machines
45 +nee | +neu | +nowt | +one | +parted | +petition | +resigned | +saddle | +seeing | +sitzt | +sold | +soooo
45 +spelt | +stay | +target | +under | +unpacking | +veg | +wahl | +walls | +watch | +五 | +停 | +具 | +功 | +场
45 +张 | +怀 | +村 | +祥 | +调 | , | , #amount | , actually | , cleared | , dauert | , early | , einfach | , got
45 , hab | , lifes | , names | , spielt | , though | , 推 | , 老 | , 鞋 | = #time | = abgesetzt | = because
45 = gegessen | = gekündigt | = gibt | = money | = pushed | = slid | = there | = we | = 一 | ? not | N doing
45 N geboren | N replaced | N salary | N says | N yard | ^ as | ^ binned | ^ came | ^ cancel | ^ docs | ^ fig
45 ^ home | ^ ist | ^ mir | ^ paid | ^ quiz | ^ some | ^ thats | ^ turn | ^ we | ^ zwei | ^ 修 | ^ 看 | a N
45 a balcony | a y | a young | a ≠ | abgesetzt , | achtzehn | after | again since | alone | am back | an egg
45 arbeite nicht | are done | auch , | aufgegeben , | aufgehört | aus und | backwards | bad | balcony ? | baths
45 baths , | because we | begged | belly | bestanden | bin jetzt | books | bring | buried | call | changed to
45 chocolate | chuffed | church hall | clear , | coach has | cut = | da | dauert genauso | den kindern
45 den sängern | died on | down , | dublin | egg | entry | fetched | fig | finish at | flood | für ihn
45 ganz normal | geboren | geboren , | gekündigt | god | had the | hall | has been | has shut | hat sich | her at
45 her birthday | hips wont | home 晚 | home 这 | house #days | hurry | i have | if im | in , | in a | in til
45 iphone | is in | isnt a | ist leider | it backwards | it for | it off | its #phone | its called | its on | jan
45 just #amount | kid | kindern | label is | lass | left , | lifes | lifes too | like mad | me | mind | mine to
45 mornings | my hips | my niece | my old | need , | nei | new | new baths | new husband | niece ,
45 night retainer | nimmer , | no $ | noch einmal | noch zwei | not enough | of mine | off just | old ones
45 on #days | org | organiser | out = | place | place $ | pls , | publisher | pulled out | putting =
45 retainer now | retired | s , | s bahn | says = | scan | seventy | sheet for | shes | shes coming | shut the
45 sie mir | spare room | spät | statt = | sticks $ | still #amount | still N | sängern | sängern noch
45 take effect | tenants | the books | the course | the driver | the letter | the meeting | the music | the other
45 the sea | the stairs | the till | the vote | the weekly | these days | thru | too short | travel | trial | tv
45 two since | up #number | verlängert , | walls | was born | was changed | washing | we changed | we pay
45 were on | where i | where she | who am | wieder ganz | wir jetzt | wohnung | wohnung ist | won $ | worden ,
45 yard since | zero | ≈ since | ≈ zu | ≠ every | 上 了 | 不 放 | 也 退 | 了 = | 了 不 | 了 推 | 了 没 | 二 挪
45 人 保 | 从 今 | 位 改 | 信 科 | 停 了 | 全 | 写 两 | 到 $ | 十 五 | 去 走 | 又 喝 | 发 短 | 变 | 套 今 | 我 变
45 挪 | 推 光 | 清 | 白 的 | 科 二 | 给 人 | 缩 | 能 开 | 记 错 | 话 也 | 话 了 | 调 | 调 了 | 这 轮 | 退 | 遍 了
50 ! = | #days there | #number is | +adjourned | +alright | +aufgegeben | +board | +books | +canal | +checked
50 +couple | +course | +dairy | +dearer | +dort | +eggs | +farm | +flat | +folded | +get | +gls | +handed | +he
50 +jetzt | +kunden | +liest | +m | +menu | +miles | +net | +october | +pets | +presents | +promoted | +repair
50 +ruhig | +shifted | +stays | +teuer | +that | +theyve | +thoughts | +tour | +turned | +used | +uv | +verkauft
50 +wardrobe | +without | +wore | +wrong | +zweimal | +上 | +劝 | +壳 | +夫 | +定 | +拉 | +月 | +栽 | +砍 | +缩
50 +马 | , , | , asked | , er | , going | , handed | , lowest | , moneys | , nans | , pilates | , 以 | , 日
50 = #titled | = call | = cracked | = ne | = starts | = weiter | = 丢 | = 交 | = 今 | = 关 | = 室 | = 订 | N der
50 N here | N married | N nehmen | N ≈ | ^ #daypart | ^ alles | ^ ask | ^ bring | ^ correction | ^ dead | ^ dumped
50 ^ finn | ^ gibts | ^ its | ^ legal | ^ make | ^ me | ^ nicked | ^ playwright | ^ plumber | ^ 哪 | ^ 早
50 a burst | a normal | abgebrochen | abgesagt , | account | ace | adjourned | agm | all of | all ~ | and his
50 and team | asking $ | aufgehört , | aus , | back , | banned | because ≡ | bei = | bowl | brother | bub
50 bungalow $ | burst | bye | cafe | call by | came back | captain of | chickenpox | christmas , | coming $
50 company , | da ! | da raus | dads been | das | das dritte | dont need | drin , | ended | erst ≠ | es aus
50 every | extension | extra | feet | fifteenth | finally | first N | fish again | foot $ | for anything | fox
50 funeral was | gallery | gezogen | got in | havent unpacked | her off | his bank | his girlfriend | home council
50 home flat | home lift | home weve | home 边 | home 静 | husband $ | i like | i muddled | ich ein | ihn $
50 im at | in zwei | is captain | is the | is ≈ | ive said | jacked in | jetzt $ | jetzt die | jetzt meine
50 jobs dont | json | kam = | kitchen table | knackered | kommt jetzt | lamb $ | last #amount | last release
50 laws | leaves me | lets | like the | lowered | lowest | lowest is | maternity | menu for | moneys | month $
50 muddled | mussten | my correction | my limit | nans dancing | niece | night and | not far | note for | now and
50 nun = | on at | only do | open ≡ | ouch $ | paid | permanently | permanently , | pilates i | playwright
50 playwright for | please , | plumber put | presents | pushed | quicker than | rebooked | relieved | scanner
50 second #number | sehen , | seit die | shut | single | single = | stolen | stopped going | table , | taken on
50 the agm | the bills | the bin | the bowl | the menu | the photo | the scan | the toddlers | these #amount
50 theyve | those | toddlers , | tore out | trailers | und ≈ | unpacked yet | uv | veggie | vorsitz | we never
50 we tore | were | what she | which makes | wie gehabt | window now | wir nicht | with #amount | with football
50 year ≠ | youtube | zoo | zwei tage | ~ ≈ | ≈ | ≈ a | ≈ mindestens | ≈ minimum | ≈ 到 | ≠ drauf | ≠ mornings
50 两 百 | 丫 | 五 , | 今 年 | 从 上 | 伙 | 出 | 剩 我 | 去 那 | 又 长 | 友 淘 | 发 电 | 在 ≡ | 女 友 | 奶 粉
50 婆 依 | 子 清 | 子 版 | 学 生 | 带 | 帽 | 弟 那 | 我 们 | 打 $ | 把 房 | 报 了 | 掉 一 | 接 | 有 我 | 清 仓
50 的 ! | 的 小 | 碰 | 第 ≈ | 粉 | 舅 舅 | 被 我 | 让 | 跑 = | 路 ≈ | 里 只 | 长 $
55 ! ≈ | # = | #amount bekommen | #amount extension | #amount today | #days weve | +abbestellt | +alone
55 +altogether | +bachgasse | +baths | +bea | +bäcker | +dauert | +ffm | +firsts | +flood | +git | +honest | +j
55 +künftig | +laws | +lifes | +mass | +mehr | +migrated | +mon | +muddled | +nachbarn | +nudeln | +oslo
55 +parking | +pickles | +pregnant | +really | +redo | +rm | +salsa | +seating | +sehen | +ship | +shop | +sorry
55 +star | +steps | +stomach | +sub | +tagged | +tape | +them | +trailers | +twelves | +verschimmelt
55 +versprochen | +yesterday | +修 | +八 | +呢 | +急 | +户 | +搞 | +摆 | +沾 | +狗 | +用 | +省 | +练 | +结 | +缺
55 +肾 | +裂 | , always | , feels | , gestern | , grr | , house | , ohne | , savings | , sind | , ≠ | , 视
55 = #amount | = , | = cannot | = comes | = free | = gets | = over | = under | = war | = zum | = 下 | = 归 | = 提
55 = 散 | = 的 | N first | N please | ^ all | ^ compiles | ^ garage | ^ gave | ^ left | ^ nah | ^ nö | ^ sat
55 ^ sefton | ^ signed | ^ you | ^ ≠ | ^ 推 | a job | a year | abgebrochen , | abgegeben , | abgesagt | abnahme
55 added | after , | agm and | all hers | already | and gone | and hes | and my | and sits | anything $ | auch ≠
55 baby $ | bank , | before #amount | beside N | blood tests | board ? | booked | booked $ | booked the | box
55 broke up | btw $ | can lie | captain | compiles | compiles in | customers happy | da , | daf | days
55 delivery $ | der ≠ | dessen | does = | down today | each = | empty , | erledigt | extended | eyes , | feb and
55 find ich | follow | for #number | gekündigt , | get it | gewechselt $ | gibt | go ≠ | god rest | gone | got ≠
55 grr | grr $ | guess who | hab den | hab die | had #amount | hands | has taken | her mind | him , | home 州
55 home 来 | hour , | i stopped | i switched | in october | into ≈ | is #time | ist gestern | it in | its main
55 just ≈ | keyboards | lifts | magen | main , | man says | misheard | misread the | my car | nehmen jetzt | net $
55 never was | new #amount | new address | no wedding | not taking | now | nö | nö , | off = | own #amount
55 pool , | printers | put = | racing | rebrand | rebuilt | rebuilt it | reeds | relief | renewed | reorganisation
55 right the | rowing | run every | saddle | savings | savings stay | sawed | sawed it | says #number | schon um
55 sefton | sefton put | sept , | she cant | short | short , | sieben | signed with | since the | sits next
55 squeezed | stands | stays , | storm | studio to | summer | switched off | taking | that is | the building
55 the cats | the ground | the kitchen | the night | the reorganisation | the summer | them to | they said
55 they sawed | this season | til #amount | till next | tobi | tup | twenty | twenty , | two now | und #amount
55 up , | updated | verschiebt | w = | walked , | wardrobe , | was $ | was put | wife won | with ≡ | worden
55 wrong | zwei wochen | ~ died | ≈ have | ≠ because | ≠ by | 买 = | 了 | 以 后 | 会 我 | 你 记 | 保 了 | 剪 ≡
55 功 , | 医 生 | 受 | 号 没 | 外 婆 | 套 | 姓 章 | 子 教 | 对 调 | 徐 | 成 功 | 戒 了 | 拼 | 换 号 | 接 了
55 接 受 | 教 会 | 早 晚 | 旺 财 | 晚 已 | 期 了 | 没 动 | 涨 的 | 满 食 | 爸 , | 爸 妈 | 答 辩 | 脑 | 起 | 起 =
55 跑 了 | 转 去 | 辩 | 那 吃 | 间 是 | 面 新
60 # now | #amount into | #time 水 | #titled was | +abgeschlossen | +ai | +armbands | +baby | +bekommen | +bleibts
60 +bowl | +buying | +chap | +chickenpox | +coach | +dessen | +doing | +fair | +gesagt | +hybrid | +lates
60 +letters | +linear | +much | +neuer | +not | +orders | +organiser | +papier | +peanut | +pinched | +pulled
60 +putting | +raised | +rauf | +rebooked | +renew | +sale | +scanner | +shares | +stolen | +strom | +stuff
60 +tester | +umgestellt | +weds | +week | +介 | +冻 | +刚 | +到 | +各 | +喽 | +座 | +捷 | +是 | +柜 | +沐 | +渠
60 +管 | +糖 | +装 | +鱼 | +鲈 | , dear | , moved | , yes | = # | = abgebrochen | = and | = emigrated | = ffm
60 = fällt | = geht | = to | = year | = 出 | = 是 | = 过 | N bei | N next | N stopped | N tonight | ^ ach
60 ^ beides | ^ closed | ^ lass | ^ nobody | ^ pay | ^ putting | ^ retired | ^ sorry | ^ 妹 | ^ 改 | a flat
60 actually | after that | again , | alles $ | also $ | are no | aufs | beats | boiler ate | bought | brief
60 bring it | bus $ | but only | buy the | came | cancelled that | cant face | clean | confession | couple =
60 damp was | dann sein | darf | das ding | das zu | day #amount | day since | doch | eating | eighteenth
60 eighteenth , | ever again | ever so | face the | fair $ | fees | floor with | folded , | for him | for me
60 four , | from ≠ | garage is | gp | hab auch | haben wir | has shifted | have decided | have had | her to | het
60 home #number | home love | home my | home 旁 | home 读 | i $ | i actually | i rebuilt | immer ≠ | in tues
60 is let | it #days | it on | its the | jetzt bei | jetzt ~ | k , | kill | kommt dann | landlord | lassen und
60 laufen | laugh | lol , | läuft wieder | mehr = | mich wie | mint | mit , | moped | moved up | must | my boss
60 nach | ner | new router | nicked the | nobody | oh wait | only ≠ | open and | other time | perfect = | pinched
60 poor things | rein = | ring back | rm ≈ | running outside | says no | schon $ | schule | season , | several
60 shipped | sister in | so its | sold = | son | sparen | stop | suit me | take her | that from | the gallery
60 the hat | the insurance | the laser | the publisher | the season | the south | the weekend | then ,
60 they changed | things $ | this term | till #number | to be | to come | to quarter | trainiere | two | um fünf
60 umgestellt $ | under | upgraded | velvet | verlegt , | verschiebt sich | wages | wages go | walk ins | wasnt =
60 we migrated | wire | year #number | ~ no | übergeben | ≈ by | ≈ daiwa | ≈ days | ≈ hated | ≈ 八 | ≠ a | ≠ and
60 ≠ bc | ≡ 也 | ≡ 回 | ≡ 换 | 一 排 | 不 结 | 个 $ | 也 | 产 假 | 人 #amount | 人 了 | 休 产 | 俩 | 停 , | 儿 媳
60 分 到 | 别 再 | 区 了 | 印 | 又 高 | 台 | 喝 白 | 女 的 | 妇 生 | 娃 | 工 了 | 弃 了 | 意 $ | 才 = | 晚 各
60 来 住 | 来 电 | 满 | 皮 | 砍 | 说 ≡ | 贫 | 贫 血 | 走 的 | 过 的 | 间 推
65 #amount from | #daypart , | #number to | #number verlängert | #time ! | +N | +ago | +arbeiten | +belly | +bless
65 +border | +brauchst | +correction | +earlier | +eigenen | +extra | +habe | +hats | +hot | +insurers | +jonas
65 +k | +kid | +lets | +lowered | +milkman | +mornings | +nehmen | +nicked | +niece | +notice | +register
65 +registered | +relieved | +replaced | +samples | +schau | +sharks | +skipping | +spät | +taste | +tess | +than
65 +uni | +unpacked | +upgraded | +verlängern | +we | +zurückgetreten | +啦 | +推 | +改 | +翻 | +脚 | +诊 | +首
65 , bought | , his | , home | , judge | , oat | , 不 | , 从 | , 清 | = abgegeben | = its | = machine | = packed
65 = stood | = verlegt | = works | = 坏 | N a | N aus | N for | N halt | N i | N live | N put | ^ chucked | ^ day
65 ^ fell | ^ hes | ^ his | ^ moved | ^ on | ^ prima | ^ storm | ^ 跟 | ^ 路 | a month | again so | all the
65 along , | and i | apart | apt | as N | au | back with | better , | bike = | brain | brauchts | bus for | buying
65 by #time | caved | closed , | comes on | d | dafür | days and | der = | die haben | drawer | dropped out | e $
65 eat | erledigt , | everybodys #amount | fire $ | folks | fourth | gehabt $ | german | girls | go | goes out
65 grey | ground = | guy went | hall is | handed in | has replaced | home keys | home last | home 单 | home 无
65 hotel | hour ago | hours | i eat | immer | in on | instead but | insurance $ | is cancelled | is dead
65 it #daypart | it , | it so | jetzt , | judge | kids $ | last #number | lead | like his | läuft aus | made
65 messen | mind again | minds | mine | minus #number | money $ | money now | morgens | müssen | nah ,
65 neuerdings | never rang | nichts | not be | nothing on | now rent | nun | of july | of new | onwards | ours for
65 own at | paper , | photo | prima | prima , | rent a | research | rest of | says she | schloss | second tester
65 shes dropped | since #days | steht seit | stück , | teacher | the badge | the council | the prices | the sales
65 the title | the wife | they give | time this | to ≠ | vertrag | wants = | waren die | we no | we split
65 we talk | white , | woman called | zurück , | ~ | ≈ if | ≈ und | ≈ 的 | ≠ angehoben | ≠ 五 | ≠ 就 | ≡ 四
65 一 个 | 个 对 | 事 了 | 交 给 | 做 | 刚 来 | 别 提 | 功 | 千 , | 厂 | 去 外 | 大 转 | 头 喽 | 女 士 | 子 吃
65 弄 错 | 我 姓 | 排 座 | 搬 过 | 是 a | 死 的 | 献 | 献 血 | 睡 | 砍 到 | 礼 拜 | 第 ≠ | 签 | 签 到 | 能 睡 | 证
65 转 = | 过 来 | 都 $ | 闲
70 ! im | #number so | #titled 是 | +alles | +asked | +bc | +bees | +bye | +doors | +eighteenth | +einschläfern
70 +em | +falsch | +fees | +foundation | +früher | +grass | +halved | +hangs | +hochgesetzt | +hören | +legal
70 +letzter | +mistake | +neun | +nursing | +out | +plumbed | +pnpm | +politely | +royal | +sales | +schwester
70 +sits | +squeezed | +summer | +taken | +timo | +tired | +until | +updated | +upped | +washing | +weeks
70 +weggeworfen | +weve | +wren | +丫 | +何 | +凯 | +吹 | +甜 | +酒 | +闲 | , a | , kein | , starts | , staying
70 , 家 | , 左 | , 往 | = are | = handed | = machen | = und | = will | = zurück | = 和 | = 挪 | = 改 | = 转 | = 都
70 >3 | N been | N board | N no | N this | ^ cancelled | ^ guess | ^ handed | ^ should | ^ switched | ^ theyve
70 ^ wrong | a change | a j | about = | again on | alternate | anymore | apixaban | archive | back to
70 backwards $ | boss is | boy $ | bungalow | can have | can ≈ | cancel | chapel | clear | cook tonight | dead $
70 deck | deleted the | den = | dinners | e | eigenen | endlich | es ist | essays | eyes | fahre jetzt | far $
70 fasten | fully | geh | geschieden | go from | gute | hat aufgehört | hate = | heart | her name | his call
70 home with | i write | ich wieder | is ≠ | it first | jetzt ≈ | just the | kill me | last month | last session
70 left us | line in | love = | misread | mit | my landlord | my last | next = | nicht nötig | not need | november
70 of message | only on | out over | owner | pay rise | plenty | post office | press | pub tonight | pune | put to
70 quiz has | registry | second , | seit dem | slid to | so there | so were | start on | storm took | table
70 take them | tausend | the archive | the bank | the owl | the saddle | the winter | think its | those , | uns in
70 up in | we cant | well skip | were at | weve | what , | year | zu viel | ~ anymore | überall | ≈ $ | ≈ babyyy
70 ≈ warn | ≈ 只 | ≠ #daypart | ≠ one | 不 用 | 业 催 | 人 家 | 公 司 | 到 三 | 又 看 | 司 全 | 啦 , | 大 了
70 太 太 | 如 | 子 升 | 室 了 | 弟 | 打 了 | 是 人 | 汇 | 沾 | 泳 , | 箱 $ | 约 了 | 给 同 | 见 = | 跟 着 | 通 了
70 都 | 金 $ | 错 了 | 门 口
75 # and | #amount again | #amount crashing | #days and | #time for | +abgekauft | +air | +april | +auf | +büro
75 +cancelled | +captain | +changed | +daheim | +doctor | +dont | +ended | +enough | +forward | +heron | +high
75 +hit | +jenkins | +missing | +mitm | +nacht | +off | +onwards | +ouch | +passed | +preis | +proper | +pushed
75 +rebuilt | +retainer | +roof | +rooms | +round | +scan | +schedule | +shoved | +trial | +wrecked | +久 | +九
75 +充 | +减 | +刨 | +嫂 | +废 | +散 | +牛 | +由 | +自 | +闭 | , #titled | , meine | , physio | , went | , 分
75 , 教 | = dont | = off | = schleppen | = takes | = turned | N more | ^ coach | ^ flat | ^ fox | ^ it | ^ nein
75 ^ nope | ^ renewed | ^ there | ^ 又 | ^ 她 | ^ 编 | a piece | a ≈ | alle #amount | ask , | asked to | auf den
75 believe , | binned = | bis sieben | bought #number | c , | counted | cracked | cut it | dauerhaft | debian
75 den alten | do all | documentary | dreimal | dropped ≈ | earns #amount | empty | every day | football $ | früh
75 gah | geht | green right | guessing | guys | hab | hall $ | him on | hin , | holen | holiday , | home moved
75 home 匙 | home 区 | home 总 | home 钥 | i come | ideas for | is # | ist raus | it = | it by | it to | its ≈
75 january | jez ≈ | just like | land , | laut | like everyone | lost her | lower | made us | mat | me as
75 meeting , | mind $ | monthly from | morning and | my ≡ | needs the | new name | no more | nope | of this
75 parted | piece $ | put it | renamed | rest | room $ | sein N | sheet | shop with | so please | steht =
75 stood down | the mat | the ring | them ≠ | too big | took | und den | uni now | until the | up by | waage
75 we swapped | weekly | whole = | wrong , | ~ #number | ~ bleibt | 一 = | 了 别 | 傅 说 | 包 的 | 员 | 品 $
75 奶 回 | 子 一 | 师 们 | 开 ≈ | 我 自 | 改 了 | 是 个 | 样 $ | 气 上 | 炫 #amount | 罐 子 | 罪 | 胃 | 脆 | 随 便
80 +blazer | +cancel | +caved | +clear | +department | +eleven | +entsprechend | +father | +holen | +iphone
80 +jacked | +lapse | +mart | +neuerdings | +noon | +paar | +packed | +pub | +reorg | +transfer | +嫌 | +江 | +辩
80 +迁 | , and | , at | , bless | , by | , full | , im | , number | , remember | , statt | , vorgezogen | , weil
80 , 外 | , 走 | = btw | = course | = kept | = kit | = last | = 以 | = 批 | = 辞 | N came | ^ elbows | ^ gone
80 ^ nach | ^ 房 | acht | address , | and ~ | anything | been , | blazer , | bleibt noch | bruder seine | building
80 called it | came through | cancelled it | cant get | choir site | cleared | closed the | come again | danke ,
80 delivered | dem bruder | elbows | finished | free now | from home | garden centre | gestern erste | going back
80 gone , | has become | has put | has the | hob i | hockt | home 锡 | i lost | is sold | ist jetzt | it has
80 it is | its ≠ | jetzt N | kann ich | laid | land | leaflet | legs | lost ≈ | make that | my back | n the
80 new #number | new schedule | ohne = | on foot | ours | passed in | plumbed | poor = | registry office
80 retirement | same #number | same , | says | schreibt | scrapped | seit #number | seit N | she wants | shes ≈
80 sind | sleeping | stelle | stop the | the bungalow | the post | them now | they cut | to say | turned #amount
80 up when | upgraded to | verein | vorgezogen , | when the | wieder = | with it | worked | ~ yes | ~ 是 | ~ 给
80 ≠ at | ≠ yesterday | ≡ now | ≡ 不 | 七 个 | 下 来 | 剩 | 单 位 | 在 不 | 在 大 | 天 起 | 我 到 | 早 不 | 的 $
80 盘 出 | 管 = | 送 给
85 #amount 来 | #number wohnung | +agm | +confession | +devs | +dinners | +e | +erst | +extension | +fahre
85 +filled | +gleich | +grr | +light | +moved | +neither | +quit | +reversed | +right | +scared | +squared
85 +starts | +storm | +student | +verkürzt | +vermieter | +weekly | +y | +写 | +撤 | +舅 | +饺 | , second | , 俩
85 = died | = doesnt | = done | = macht | = mehr | = moved | = out | = 停 | = 对 | = 撤 | = 飞 | N bridge | N have
85 N moved | ^ new | ^ nimm | ^ not | a $ | after the | alternate #days | am #days | are ok | ausgetreten ,
85 back at | be N | binned | card | come in | day back | der tasche | do ≈ | dog from | fella = | finished with
85 folks $ | fourth = | gardening | gave = | geld | gelöscht | go by | going | h | have left | home 睡 | i want
85 joined N | lassen | lassen , | legs , | letter came | me ever | mehr so | mich mal | mixed them | mouse
85 moved out | my mistake | ner #number | night | no #amount | november , | off , | other value | out it
85 over there | own bed | people keep | put me | quit , | roggen | says i | she does | so the | split up | tag
85 that now | the home | these | they , | voted | was the | well now | with an | you keep | ~ #days | ~ stays
85 ≈ 那 | ≠ | ≡ 了 | 上 班 | 两 千 | 到 望 | 卖 掉 | 古 | 女 朋 | 就 着 | 年 = | 往 | 心 $ | 我 搬 | 拜 | 掉 了
85 提 到 | 早 章 | 期 = | 立 早 | 老 大 | 负 ≈ | 轻 | 马 ,
90 #amount #number | #days s | +achtzehn | +any | +bumped | +chapel | +curtain | +daft | +dafür | +episode
90 +heaven | +impossible | +since | +they | +wurde | +凳 | +吉 | +弃 | +转 | , #time | , boss | , ive | , started
90 , streaming | , uncle | = aufgehört | = doch | = haben | = have | = 太 | = 干 | = 空 | = 算 | N at | ^ back
90 ^ shaved | ^ she | ^ ≈ | ^ 管 | abgegeben | and it | and running | and shut | at last | bossing | deleted
90 draufgelegt | everything from | gestorben | gestorben , | hand | him down | home first | in both | is good
90 it any | lage #number | lie | mad , | makes ≈ | meetings | mehr , | migrated | month = | moved from | now in
90 other phone | out ≡ | pension , | place , | placement | said yes | second hand | shaved the | she had | so weve
90 streaming | this year | traded | turns out | uhr | up ≠ | use = | van , | vom = | weekend , | yes but
90 ≈ instead | ≠ it | ≡ 现 | 不 请 | 了 师 | 人 喊 | 儿 那 | 咯 | 她 上 | 学 期 | 就 不 | 我 #amount | 户 要 | 投
90 推 到 | 撤 | 碰 $ | 进 水 | 都 去
95 #titled 给 | +buy | +hosts | +laid | +medals | +ones | +pleased | +storniert | +吐 | +字 | +延 | , insurers
95 , running | , ≡ | , 女 | = fine | = is | = name | = wird | = 上 | = 八 | = 跑 | ^ das | ^ dont | ^ 产 | ^ 现
95 ^ 答 | ^ 错 | a firm | abgemeldet | air | and ≈ | archive and | begraben , | cancelled | der ≈ | done with
95 doubled | easter $ | flooded | found a | from here | from this | gave it | grass | hat angerufen | head of
95 her on | home finally | home 租 | i = | in charge | into his | is as | ist gestrichen | it will | ja ~ | job in
95 kauf | künftig | lidl | monthly | moved = | new = | nicht verlängert | not a | once a | one , | only #amount
95 replaced | schreibt sich | shut at | six $ | so thats | spring $ | sticks | teurer geworden | that since
95 the top | to love | told you | want ≈ | was right | went live | wife | won , | wrote , | young | 上 周 | 不 带
95 回 $ | 涨 , | 的 课
100 +bad | +both | +bust | +doubled | +dropped | +extended | +hotel | +lot | +misread | +must | +need | +switched
100 +term | +trouble | +了 | , saves | , 打 | = lease | = lives | = r | = 先 | = 回 | N baby | ^ neither | ^ went
100 ^ 从 | also ≈ | badge and | dem = | did , | donor | doors | em | every time | family | fell through | für immer
100 gave | hat mich | hat sie | hochgesetzt | home in | i now | i take | its at | life | new number | our = | point
100 registered | saves | the train | told the | went over | ~ it | ~ ok | ≡ ist | 了 合 | 台 归 | 啦 | 如 今
100 对 面 | 开 学 | 搬 = | 续 先 | 腰
105 #number #number | +dried | +five | +gibts | +nö | +owner | +press | +免 | +拼 | +热 | , follow | , net | , 凉
105 = away | = finally | = go | = kriegt | = never | = storniert | = thing | = weg | = 我 | = 那 | ^ da | ^ drei
105 ^ half | ^ passed | ^ 别 | ^ 配 | and left | cash , | der gelegenheit | dumped | er = | falsch | fifty
105 gestrichen , | geändert | good till | h , | home month | house is | i are | mittlerweile | nach der | over ,
105 pulled | she was | the drive | upped | us , | walk | would rather | y | yes $ | ≠ left | 五 $ | 全 退 | 必 | 搞
105 还 跟
110 #amount down | #titled 带 | +bare | +because | +erledigt | +instead | +nehm | +weg | +working | +医 | +更
110 = abbestellt | = his | = shut | = test | = up | = 毕 | ^ erst | ^ surgeon | ^ 调 | ab N | bescheid
110 colleague , | contracts | doing = | haben | if you | inzwischen | january $ | jetz | last week | no need | no ~
110 office of | pushed to | rust | started at | to work | took my | und ~ | ups | venue flooded | wrong about
110 ≈ seit | 千 $ | 喽 | 小 班 | 招 牌 | 活 不 | 顿
115 +contacts | +hated | +honestly | +love | +lower | +nah | +renewed | , neighbours | = altogether | = back | = 搬
115 = 涨 | N house | ^ ha | ^ last | ^ neue | and only | auf ≠ | bei mir | beko mit | bloods | cancelled = | daheim
115 der | die = | done and | got too | haben den | hr | hundred | im in | isnt , | little N | mal , | me #number
115 of = | stayed | the extra | thieves | ≈ erhöht | ≈ she | 下 #days | 二 = | 右 边 | 吐 , | 百 $
120 +anything | +crashing | +jumped | +monthly | +plays | +scrapped | +swapped | +折 | , with | = closed
120 = gestern | = hat | = passed | = walked | = 卖 | = 让 | ^ doc | ^ ne | down to | empty $ | home 间 | mein =
120 nicht $ | read it | since | sod the | wont do | ≈ from | ≠ from | 式 | 旧 , | 束 了
125 ! | +fifty | = any | = 昨 | = 被 | ^ only | and = | british | budgie | bye = | der hat | eggs are | for keeps
125 given | habe | heard | home 多 | i get | my = | my new | sold $ | with this | 在 操 | 安 了
130 #amount day | #amount early | +# | +deleted | +nein | = wurde | N again | ^ # | ^ had | ^ jacked | ^ shes | ab
130 im a | left = | nach dem | paid = | to #time | um $ | with = | ≈ = | 新 =
135 +rules | = kommt | = started | ^ sold | die stunde | for good | from today | no = | seit | sick of | wieder ,
140 +anymore | +统 | , steel | = has | = 退 | ^ 不 | rücken | signed | so ≠ | swapped = | the =
145 bin | says ≈ | sie hat | there is | us to
150 = habe | all #amount | at all | chucked = | longer = | my hands | weder | you please
155 #amount 期 | = hab | = retired | = 从 | ^ = | as of | let = | the ≠
160 not =
165 = bin | more =
170 = gone | not ≡ | 了 现
175 replaced = | what i
180 this morning
185 +白
190 dropped = | nur noch | 后 =
195 = | ^ er | ^ ≡ | so =
200 ^ 是
205 = ist | = went
210 heard lead
225 = 也
260 home 搬
280 share
"""
"""Weights in hundredths of a log-odds, each followed by the features that have it."""
