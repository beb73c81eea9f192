"""Weights for `outdating`, as fitted by `make eval-corrections ARGS=--fit`."""

TABLE = """
-615 *
-215 = says
-200 he says
-195 ^ in
-190 = bleibt
-175 nearly
-165 = still | ?
-160 +vom | jetzt auch
-150 heard alone | was at
-145 +answer | = stays | seit ≠ | 明 天
-140 +badge | ^ #titled | 手 ,
-135 ^ yes | ^ 对
-130 +cake | +pass | +think | +tomorrow | +宽 | = it | was ≠ | 迟 到
-125 #amount N | #days from | +bring | +town | +踢 | = 又 | N you | ^ change | knee
-120 #days now | +heut | +nearly | +告 | next | 博
-115 +#daypart | +fox | +hair | +passt | , then | N habe | N jetzt | N over | dass | grade | haha | hens | ihren
-115 is no | lost #amount | might | nem | switched the | 客 | 的 那
-110 +comes | +mal | +übernimmt | +闺 | , put | = N | = ok | almost | need a | out ≠ | passed grade | to pay | we =
-110 whats | 了 十 | 外 | 库 | 弟 弟 | 着 了 | 穿 | 费
-105 #date 了 | +canyon | +fitted | +flipping | +ihr | +late | +looks | +ok | +physio | +saved | +stehen | , any
-105 ^ mums | ^ 阿 | all day | closed on | einkäufer | glad | ja | moving | ob | schon wieder | still = | taxi
-105 the #number | this | ≈ an | 夜 班 | 得 我 | 改 用 | 是 ≠ | 笑 | 那 年
-100 ! i | #time in | +aber | +almost | +asleep | +bis | +cheque | +dass | +gas | +grade | +key | +might | +milk
-100 +order | +schreib | +今 | +海 | , back | = but | = sich | = the | = this | = till | N sold | ^ meine | ^ my
-100 add | alarm | cleaner | found the | gave him | hours , | ich seit | is not | kollegin | morgen | my ≠ | new ,
-100 oder | only , | says hes | sold #number | the food | then | tomorrow | verschieb | we did | ~ the | ≈ # | ≈ as
-100 了 ≈ | 到 #amount | 句 | 后 来 | 奶 奶 | 涨 到 | 目 | 饭 了
-95 += | +about | +froh | +frühe | +hearts | +jede | +kollegin | +phone | +say | +write | +入 | +吓 | +当 | +梦
-95 , mine | , 花 | = die | = same | N gestern | ^ 小 | all ≈ | also comes | baby , | client | costs ≈ | hour from
-95 kollege | law | moved the | newsletter | not | super | swim | the cottage | these = | took over | traurig | vpn
-95 wants to | when | wifi | xmas | ~ had | 代 | 卡 | 姑 | 王 | 的 店 | 还 是
-90 # in | #daypart $ | +bald | +choir | +gloves | +gut | +house | +make | +moving | +newsletter | +seinen | +test
-90 +theres | +thought | +traffic | +view | +德 | +目 | +立 | +问 | , lovely | , need | , thanks | = lol | = made
-90 ^ frau | ^ write | a second | alle hühner | asked for | best | brace | coffee | diese | dog | draft | drone
-90 for N | hühner weg | i changed | i put | immer #days | in this | is called | ist da | jealous | move | my #days
-90 next week | notion | one | paper | sag | service | story | thats it | von | wollte | xmas $ | ~ was | ≠ 退
-90 也 = | 了 五 | 动 车 | 咋 | 带 了 | 床 位 | 挂 了 | 样 | 点 | 琴 了 | 盒 | 错 ,
-85 #date no | #number and | #time | +abend | +again | +brewery | +having | +how | +kitchen | +live | +local
-85 +meinen | +missus | +normal | +pair | +ring | +shearer | +slipped | +tutor | +übrigens | +乌 | +删 | +壁 | +烟
-85 +秒 | +站 | +红 | +肝 | +花 | , is | = den | ? $ | N läuft | ^ $ | and put | apartment | basket | braces
-85 cancelled puregym | down the | fast | from me | getting a | hilti | how | ich hab | it was | kirkby | level
-85 maths | on her | online , | plate | staging | the #time | the bit | to know | took = | train to | und N
-85 violin | weiß | wieviel | ≠ 去 | 乐 | 乔 | 公 也 | 周 | 售 | 就 管 | 巴 | 报 告 | 搭 | 新 闻 | 比 | 毛 | 笔
-85 车 车 | 题
-80 #amount days | +add | +amazing | +approved | +bacon | +basket | +bins | +cottage | +d | +diese | +fellow
-80 +found | +geschichte | +gestern | +home | +jealous | +mama | +nice | +ob | +oder | +op | +other | +own
-80 +rather | +remind | +seepferdchen | +sitze | +treasurer | +twins | +会 | +熬 | +网 | +裁 | +记 | +赶 | +零
-80 , gave | , kitchens | , thats | , told | , 拿 | = gave | = right | = sister | = took | N # | N ist
-80 N verlängert | N wurde | ^ good | ^ replace | ^ 班 | ^ 这 | a vape | allianz | and N | and back | arent | at ≠
-80 back again | didnt | gestrichen $ | give | gone up | home 都 | horfield round | hängt | in #number | invoice
-80 it were | keine N | less | mit den | opened a | raus $ | room | says that | send | since ≠ | so no | that $
-80 the newsletter | their = | this ≡ | to #amount | to give | vergessen , | von der | was cancelled | was shut
-80 week $ | werkstatt | wie immer | wrote the | ≈ ≈ | ≡ $ | 不 涨 | 个 # | 也 归 | 了 一 | 像 | 外 卖 | 帮 我
-80 店 休 | 成 # | 才 是 | 早 班 | 灯 | 素 | 群 | 试 | 该 | 车 了 | 闹 钟
-75 #daypart 都 | +allein | +allianz | +arme | +ausm | +bird | +bleib | +body | +bosch | +brown | +bub | +bullet
-75 +but | +clock | +dad | +dann | +er | +fit | +football | +go | +ihren | +isch | +kirkby | +morgens | +münchen
-75 +needs | +payment | +quiz | +sang | +sofa | +stick | +stove | +waiting | +亮 | +头 | +抽 | +理 | +盒 | +笑
-75 +表 | +视 | +醒 | , ours | , sagt | , 咖 | = alles | = called | = that | = 要 | N gibts | N off | N sind
-75 N split | ^ a | ^ am | ^ right | ^ split | ^ theres | ^ 五 | ^ 停 | ^ 发 | always | am ≠ | basket $ | black
-75 both kids | cheers | corsa | der spätschicht | die #number | die N | dream | even | ex | field | film | full ,
-75 go on | had his | hause | here , | heute die | home #days | i signed | ich $ | is off | is still | its an
-75 its for | kiln | kleinen zimmer | mein mann | oliven | on ≠ | or | order | our | out again | pipe , | pitch ,
-75 print | readme | schreib | sister | so neither | sourdough | sure | switch | that in | that the | this once
-75 ticket , | to move | we were | what | wie | zimmer auch | ~ and | ≈ wohnung | ≠ too | 一 千 | 丢 了 | 今 晚
-75 他 说 | 克 | 写 成 | 别 的 | 医 保 | 单 子 | 墨 | 大 宝 | 宝 | 室 友 | 年 调 | 想 | 时 | 是 大 | 梯 | 气 $
-75 琴 课 | 电 梯 | 老 婆 | 要 | 要 是 | 车 牌 | 这 ≡ | 递 | 金 鱼 | 陈 | 预
-70 #daypart 了 | #titled 转 | +alle | +ate | +banger | +between | +ca | +clean | +cleaner | +deliveries | +desk
-70 +es | +frag | +friend | +guess | +headache | +if | +knie | +lorry | +lounge | +print | +seine | +single
-70 +sixth | +soul | +staging | +start | +starting | +straight | +vegan | +vote | +walk | +wifi | +wobbly | +xx
-70 +zip | +于 | +你 | +侄 | +帮 | +混 | +玩 | +睡 | +缸 | +赔 | +铁 | +风 | +骨 | , both | , what | = broke
-70 = mich | = of | = what | = 发 | = 没 | = 电 | = 长 | N #titled | N aufgehört | N finished | N havent | N passed
-70 N und | N yet | ^ #days | ^ haha | ^ tell | ^ 嗯 | always = | and lost | another = | auf die | be in | be nice
-70 before | better $ | bins | blew | brandl | btw , | calls | came on | changelog | check | come back
-70 council money | cut off | deploy | diesen | dishwasher | do we | eigentlich | einen | exam | file | for october
-70 for this | gate | gonna | got #amount | greenhouse | have a | hers in | hill | him a | ice | if | in den
-70 just moved | keep it | laughed | licence back | lift $ | lodgers gone | log | made her | meine N | mit gls
-70 month since | my licence | n = | nights | nimmt jetzt | nur die | open #amount | parents | partys | people
-70 physio , | place ! | raum | rents | replaced N | rumour | she said | shes been | so nobody | starts at
-70 stopped the | stuck | switch the | tell | than last | thats #days | the lodgers | theres a | thing $ | threw
-70 to #titled | using N | wann | went fine | wild $ | word | yes , | zimmer , | zip | ~ went | ≠ ≡ | 个 了 | 主
-70 价 $ | 借 | 写 | 准 | 几 | 到 = | 双 | 啥 | 嗯 | 回 = | 园 | 在 每 | 多 少 | 妈 那 | 孢 并 | 对 头 | 庆 | 成 N
-70 支 | 服 | 死 我 | 没 人 | 琴 | 第 #amount | 说 要 | 走 不 | 邮 | 都 = | 长 | 齐 $
-65 #date now | #daypart 那 | #days auf | #days 了 | #number | +abgegeben | +allen | +app | +apple | +arent
-65 +befördert | +beide | +beside | +bitte | +blew | +croissants | +dark | +dem | +drone | +electric | +gefunden
-65 +gelegt | +github | +guy | +happy | +here | +ice | +kostet | +loyalty | +made | +mention | +nans | +nem
-65 +night | +of | +plumber | +problem | +quasi | +rudern | +rumour | +sein | +thinkpad | +top | +violin | +whos
-65 +word | +zweite | +伙 | +共 | +夜 | +姨 | +底 | +怎 | +慢 | +棍 | +田 | +社 | +租 | +章 | +能 | +血 | +题
-65 , kirkby | , woke | , 怎 | , 数 | = #days | = das | = fuchs | = mate | = next | = party | = schon | = stay
-65 = want | = with | = 住 | = 做 | N anymore | N stepped | N to | N year | ^ N | ^ at | ^ is | ^ now | ^ 同 | ^ 岳
-65 ^ 数 | a vote | all over | am N | and has | angeblich | at work | auf = | aunt | aye | biscuits | brandl ist
-65 bus | cast is | cousins | daughter | didnt = | eigenes zimmer | electric , | eltern | etsy | fahre nicht
-65 favourite | finished middlemarch | flight | floor over | for | found it | frei | friend | from N | für die
-65 ganz | garten $ | get | gets the | haben nur | hamster | hedge | her hip | home #amount | home now | home on
-65 ill | imports | is | is it | just got | kidding | middlemarch | middlemarch at | milks any | mobile | no longer
-65 now actually | number | nächste | off N | ohne garten | oliven , | paid , | paragraph | pond | raised her
-65 river | same ≈ | she = | shift | sign it | since #amount | since last | slept | so both | spot on | supper
-65 surname is | taken up | the cast | the etsy | the mortgage | the real | the report | the sofa | thinking
-65 third time | to ≡ | town wrong | tractor | trotzdem | us milks | website of | wed | weg $ | well | what $ | why
-65 wind | won the | ≈ last | ≈ 了 | 一 共 | 不 是 | 五 万 | 儿 子 | 共 | 减 了 | 务 | 北 | 吃 上 | 在 是 | 墨 了
-65 夫 给 | 定 | 工 钱 | 很 | 您 | 慕 | 我 同 | 我 还 | 房 贷 | 换 , | 改 游 | 是 #amount | 烧 | 烫 | 电 了 | 的 同
-65 羡 | 羡 慕 | 车 险 | 锁 | 风 | 验 小
-60 ! third | #amount 那 | #days 也 | #number since | #time last | #titled now | +acht | +angeblich | +barclays
-60 +biscuits | +bruder | +calls | +coffee | +cold | +dads | +dritte | +ffs | +file | +fwd | +hes | +ins | +insta
-60 +jogged | +lamb | +long | +mail | +maybe | +morgen | +motor | +nachm | +natürlich | +near | +needle
-60 +notsprechstunde | +raum | +rents | +river | +road | +sechst | +seinem | +sides | +sleep | +something | +switch
-60 +thing | +um | +unter | +versetzt | +votes | +walks | +wild | +window | +worker | +zeke | +≡ | +因 | +园 | +图
-60 +室 | +旅 | +比 | +泡 | +满 | +知 | +羊 | +航 | +色 | +荐 | +键 | +香 | , barclays | , canteens | , der
-60 , ganz | , of | , 吓 | , 没 | = blew | = opens | = tonight | = unchanged | = 终 | N ! | N all | N bin | N gone
-60 N hochgesetzt | ^ and | ^ claras | ^ nearly | ^ neighbours | ^ whats | ^ when | ^ zeke | ^ 咖 | ^ 婆 | ^ 猫
-60 ^ 隔 | ^ 香 | a drone | a new | above | allianz zur | auch noch | back as | barclays | barclays done
-60 because of | bei ≈ | bis N | bonn | bosch | bother with | by ≠ | canteens | canteens too | changelog from
-60 claras | claras gone | clash | contract , | dads | damit | das schleppen | decided $ | dreamt | drei ,
-60 drop the | dry | everything , | fishing | fittings | flats | folder | frame | fürs = | gar nicht | grand | gut
-60 haben N | hand in | has | hat schon | her ≠ | hes getting | heute | his = | home me | i cant | i could | i read
-60 i still | ich bin | in by | is now | is that | jetzt #number | lab | lastpass | late | lena | liked
-60 lindenstraße | loose | lost the | lunch now | mabel | mal | mate | mehr N | message | met | minutes | mir ne
-60 my plot | nee lass | never again | new chain | noch = | not two | offered | on #amount | on #number | one of
-60 overnight | overnight , | own ≈ | packed in | plan for | pull | put the | rota | sat , | school =
-60 second floor | seen | seine = | seit = | shifted pension | signed , | smells | smoking | sold out | spare =
-60 still on | super , | than me | thanks for | the empty | the kiln | the same | this time | through lunch | vor =
-60 wait | was in | wasnt | wenn | when she | whether | while | with the | wo | worker | zeke | zeke wants
-60 ≈ #time | ≠ has | ≠ night | ≠ 给 | ≡ = | 丁 | 不 $ | 不 对 | 专 | 乘 | 你 说 | 全 家 | 到 ≡ | 到 实 | 去 = | 吗
-60 啊 | 嗯 , | 回 他 | 场 原 | 奶 喝 | 子 才 | 家 = | 差 | 店 庆 | 推 荐 | 收 到 | 早 场 | 来 = | 椅 | 班 车 | 球
-60 用 了 | 着 他 | 空 调 | 老 马 | 荐 | 要 #amount | 课 挪 | 谢 谢 | 跑 外 | 路 | 醒 | 钢 琴 | 除 | 难
-55 # 的 | #amount since | #amount 啦 | #amount 宽 | #amount 店 | #number from | #time 必 | #titled is | #titled 撤
-55 +away | +aye | +bank | +beds | +best | +betriebsrat | +bonn | +calendar | +canon | +canteens | +colleague
-55 +cousins | +decided | +delphines | +dry | +ein | +even | +fittings | +folder | +fortnightly | +fr | +frame
-55 +fringe | +funeral | +fährt | +grand | +great | +holiday | +honesty | +ive | +later | +leitung | +letztes
-55 +lights | +lollipop | +mann | +marrow | +middlemarch | +nineties | +nursery | +oh | +ourselves | +partys
-55 +pfeift | +plates | +puregym | +quiet | +re | +rename | +rücken | +sag | +schrebergarten | +seconds | +shame
-55 +sister | +sisters | +sogar | +speech | +tabletten | +teacher | +teamleiter | +thesis | +things | +twice
-55 +unterschreibt | +vorm | +wants | +waren | +well | +whats | +wieviel | +事 | +内 | +凉 | +别 | +咬 | +哭 | +岸
-55 +带 | +打 | +把 | +抚 | +暑 | +染 | +楼 | +步 | +母 | +爷 | +画 | +请 | +辆 | +连 | +陆 | , best | , brendan
-55 , da | , danke | , does | , mines | , naturally | , rhona | , where | , 正 | , 直 | , 食 | = bosch | = mir
-55 = month | = old | = too | = wie | = 再 | = 号 | N ab | N ade | N am | N council | N daughter | N gets | N meine
-55 N month | N nehme | N not | N seit | N switched | N taken | N won | N wont | ^ aye | ^ the | ^ 下 | ^ 把 | ^ 莉
-55 a wedding | afford ≈ | after N | after ≈ | allotment | am #number | amlodipine | and me | arrow | arrow ,
-55 auf #number | aufs N | ausnahmsweise | beds in | betriebsrat | binned blue | biscuit | blood $ | blue arrow
-55 bonn los | brendan | brendan went | brooks | bunk beds | called | carpets | chain | coat | cotham | da und
-55 deliver | der allianz | did i | did not | different | dogs | done last | drüben | either | employee
-55 empty #amount | flu | flu so | for otis | fringe | full of | gdansk | gitlab 迁 | giving blood | groups | hab =
-55 hat der | have me | his N | home 小 | home 着 | i dropped | is back | ist bonn | ja , | jenkins 那 | juniper
-55 just | key now | kitchen , | labels | lazy | like butter | lindenstraße , | meeting at | meiner | minutes from
-55 more since | move the | moved | moved away | naturally , | neuer N | nineties | noch | not mine | not moving
-55 note to | number $ | of giving | or what | orla | otis , | out on | passed her | pfeift | played | pump ,
-55 rhona | rhona was | rooms with | runter auf | same = | sauer | sausage | says $ | says it | school | seconds
-55 shame | she is | side was | skat | skat wird | sofa | something | south side | spare | started , | stefan
-55 still do | swapped rooms | tea | tee | the #date | the N | the drum | the flat | the nineties | the pipe
-55 thesis | till #days | tmrw | today , | und jetzt | wants me | war nur | wise | wobbly | workshop | worktop
-55 wrong = | year $ | year ≈ | years | you | you know | zieht | ~ ! | ~ in | ~ kommt | ≠ N | ≡ 说 | 上 = | 了 三
-55 从 gitlab | 他 $ | 价 降 | 位 也 | 公 | 别 叫 | 别 用 | 千 五 | 去 吃 | 又 | 同 学 | 回 办 | 堂 太 | 壁 老
-55 多 了 | 套 摘 | 媳 | 室 | 就 回 | 工 资 | 差 点 | 我 抚 | 我 没 | 抚 | 抚 养 | 报 | 搬 去 | 放 路 | 晚 = | 步
-55 烤 | 知 道 | 苏 州 | 莉 | 莉 嫁 | 莉 莉 | 让 #daypart | 让 = | 讲 解 | 请 假 | 键 盘 | 问 | 陆 | 驾 照
-50 ! he | ! orla | #amount 也 | #amount 八 | #amount 关 | #days | #days N | #days only | #days wohn | #number on
-50 +#amount | +angefasst | +aunt | +before | +break | +brendan | +bude | +bunk | +call | +carpets | +conny
-50 +cotham | +cupboard | +customers | +dancing | +deserved | +dig | +drüben | +ever | +fast | +frist | +fully
-50 +ganze | +grad | +green | +hafermilch | +heil | +kidding | +kurze | +lass | +liked | +loose | +message | +met
-50 +minus | +mitglied | +move | +namen | +neujahr | +official | +pond | +reckons | +rolls | +scores | +site
-50 +sitz | +smells | +soup | +sure | +surname | +table | +thanks | +use | +wann | +whether | +win | +wo | +≠ | +乔
-50 +乘 | +发 | +吗 | +嗯 | +尾 | +工 | +护 | +搏 | +搭 | +无 | +机 | +桶 | +灶 | +盆 | +碰 | +穿 | +笔 | +粥 | +脏
-50 +脱 | +苦 | +规 | +辈 | +道 | +野 | +龟 | , balconys | , dass | , shame | , wieviel | = at | = brought | = bub
-50 = found | = from | = more | = mother | = own | = rota | = though | = unverändert | = 吃 | = 家 | = 生 | >26
-50 N are | N bank | N mehr | N since | ^ ab | ^ find | ^ 护 | ^ 朗 | ^ 楼 | a #days | after last | all good
-50 and code | and freeze | are going | asked if | balconys | balconys bare | bank closed | belt | between
-50 bought the | but no | came , | candles | coaching | code business | come , | correct , | cricket these | cron
-50 cron to | dark | dentist $ | der #number | der N | died last | diese woche | dinner | doing #days | double
-50 double booked | elternzeit | es = | every winter | feed | firm , | for anymore | for his | garage has | gcc
-50 got flu | grand , | gregor | has = | he was | hingeworfen | home 不 | hund | i agreed | i quit | i said
-50 i sold | in = | instead $ | intern | isnt | ist der | it as | jira | jira , | just for | klar | klar , | knie
-50 labels , | ladies | left N | left at | limits | line | move to | my aunt | my wife | nachbar | new passport
-50 no pies | not ~ | now without | nur = | nursery = | on gcc | on him | on level | on top | once , | orla had
-50 other = | party | passport came | pies any | pitch | proper ticket | put a | put them | rang to | ready
-50 round to | run from | saw | shame , | sheep | sich jetzt | since = | since ≡ | size | sold his | spaß | stays $
-50 takeover | takeover $ | tears | tell the | thank you | the allotment | the cat | the cricket | the intern
-50 the takeover | them back | them this | then $ | theyve a | this = | tho | through my | to an | to her | to plan
-50 told him | torn | trainee | training | trying | twice | twins | tyres and | up on | venue too | visiting
-50 was ill | weighs | what = | whos | wifes = | window $ | wohn | wohn ich | won #number | work now | ~ 上
-50 ≠ today | ≠ 走 | 不 跟 | 中 #amount | 了 上 | 休 了 | 叫 陆 | 右 眼 | 叶 | 壁 | 媳 妇 | 年 #amount | 快 递
-50 意 思 | 我 要 | 房 租 | 改 写 | 明 | 是 不 | 朗 逸 | 照 | 着 看 | 票 价 | 站 | 讲 | 话 | 说 | 豆 | 达 | 逸 | 野
-50 门 , | 隔 壁
-45 #amount #time | #amount minimum | #amount now | #date | #date it | #time 飞 | +alarms | +along | +alter
-45 +balloons | +bed | +biscuit | +bits | +bleiben | +boss | +brace | +braces | +broken | +burned | +can | +cheers
-45 +coat | +confirm | +correct | +couch | +cried | +cromer | +crossing | +deliver | +dirty | +dragged | +draußen
-45 +dude | +feed | +flu | +fortnight | +fragen | +frei | +groups | +hin | +hingeworfen | +hund | +hundert | +im
-45 +imports | +intern | +kita | +ladies | +lassen | +limits | +magic | +marriage | +memoir | +minutes | +mit
-45 +moana | +nen | +oliven | +or | +outside | +parents | +pipe | +plaster | +played | +pool | +ready | +registry
-45 +samstagsdienst | +sehe | +separate | +sleeps | +slide | +soon | +source | +stops | +tears | +teenager
-45 +tonight | +vape | +wards | +weighs | +while | +will | +wrote | +下 | +净 | +刷 | +娃 | +孟 | +宝 | +实 | +想
-45 +托 | +挂 | +本 | +松 | +楚 | +欢 | +短 | +肉 | +薪 | +贴 | +资 | +跟 | +运 | +面 | +韧 | , lastpass | , please
-45 , swapped | , was | , zum | , 啊 | = beim | = put | = then | N #number | N auf | N ins | N nich | N retired
-45 N son | N time | N vertrag | N ~ | ^ almost | ^ candles | ^ für | ^ ich | ^ ivos | ^ ludos | ^ nephew | ^ this
-45 ^ 乔 | ^ 打 | ^ 晚 | ^ 电 | ^ 知 | ^ 笔 | ^ 菜 | ^ 行 | ^ 项 | ah | also #number | at ≈ | ausm N | aye ,
-45 azubi | azubi mehr | been shifted | before i | bett | bis | black belt | both cataracts | by | cant = | car ,
-45 centre down | concert | confirm | correct | course = | dann | das N | dave | declan | deliveries | digicert
-45 digicert for | dirty | drum | elm | elm in | ersten N | evening N | ever , | factorys | factorys chucked
-45 feed , | first , | flying | fog | fragen | gelegt | gelegt , | gerade | gestern bestanden | gestern ≈ | gig
-45 github 了 | glaub | glaub ich | go with | goats | grange | have #amount | have renamed | he is | hips in
-45 home , | home again | home it | home up | homeoffice | horfield | how many | i dont | i shall | ich da
-45 ich gestern | is a | is dirty | it after | it out | it over | it this | ivos | ivos biopsy | junge , | k $
-45 keeping poultry | keinen azubi | kindle | libre | like that | list $ | loan | lohn | long | luca | ludos
-45 ludos moved | läuft | läuft weiter | mate N | me a | meint | memoir | memoir , | minus ≈ | mir im | mit N
-45 more N | motability | mother is | my coat | my evening | my telecaster | never keeping | new hips
-45 nicht renate | night feed | no worries | notes | nursing home | oh sure | over $ | penicillin | piano | plot
-45 rain $ | renate | renate , | rest $ | seized | send a | senior | shed | sie = | sind wir | sister had | skipped
-45 so #number | so im | sod $ | starts on | stops | swapped digicert | swapped to | telecaster | telecaster to
-45 tern | thanks | the elm | the grange | the horfield | the lamb | the memoir | the motability | the pond
-45 the second | the seconds | time $ | time since | to him | to normal | towel | trinkgeld | unit | wagen
-45 wagen haben | was late | weekend shift | went well | will | windows | yara | ~ ≠ | übrigens | ≠ weve | 不 错
-45 个 | 中 音 | 乔 乔 | 乔 妈 | 买 四 | 了 谢 | 会 | 到 github | 到 ≈ | 到 两 | 友 的 | 台 N | 后 #days | 后 就
-45 周 末 | 咯 周 | 啊 不 | 在 管 | 堂 | 好 | 姨 | 年 去 | 怎 | 怎 么 | 成 #time | 我 ≠ | 数 | 文 | 日 从 | 是 的
-45 末 闲 | 测 | 用 您 | 的 | 的 不 | 管 账 | 老 周 | 语 | 说 不 | 谢 我 | 豆 豆 | 账 了 | 账 的 | 超 | 跟 我
-45 部 , | 都 改 | 隔 | 音 部
-40 ! and | #amount about | #amount more | #amount warn | #amount 了 | #amount 只 | #time and | #titled 换
-40 +adapter | +aus | +ausbildung | +bei | +bowed | +camera | +cataracts | +changelog | +concert | +deploys
-40 +didnt | +doctors | +facilities | +flats | +fog | +four | +fun | +head | +header | +idea | +ist | +jena
-40 +juniper | +keinen | +landlords | +laser | +lastpass | +man | +market | +meant | +meint | +mirko | +nuffield
-40 +pane | +pension | +permanent | +poor | +pump | +red | +rot | +selber | +shift | +shrunk | +skat | +skipped
-40 +spaß | +swimming | +talk | +tasche | +taxischein | +tenth | +tmrw | +trainee | +trotzdem | +unit | +vertritt
-40 +war | +watching | +wed | +zur | +举 | +乙 | +决 | +几 | +劳 | +南 | +友 | +右 | +围 | +地 | +持 | +每 | +测
-40 +罐 | +试 | +边 | +黄 | , bashir | , christmas | , day | , hall | , heißt | , pump | , send | , senior | , 给
-40 = coming | = ein | = new | = orders | = sieben | = steht | = switched | = wasnt | = wouldnt | = 延 | N and
-40 N down | N haben | N handing | N lives | N south | ^ boxes | ^ emil | ^ ghents | ^ homeoffice | ^ if | ^ nells
-40 ^ order | ^ ostermann | ^ tamsys | ^ vor | ^ vorstellungsgespräch | ^ 刘 | ^ 海 | ^ 老 | ^ 西 | a podcast
-40 and still | anyway | ask me | auf #amount | bands | bashir | bashir sold | beans | begin | beside = | between ≈
-40 bits $ | bleibt = | boxes come | braucht nachts | bt | bt , | cant sleep | caravan | caravan at | coal
-40 coffee altogether | crying | cut my | deliveries , | dem N | deploys | deploys after | der jhv | ditched bt
-40 doing nan | emil | emil kickt | fleisch gegessen | for physio | frankfurt | frankfurt , | fun | fun $ | für
-40 gate , | ghents | giving | go back | got | haben die | hat mit | have that | header | hens , | her $
-40 her first | hof , | homeoffice ist | hätten | i hand | i only | im hof | im the | immer ≡ | insurance is
-40 interview | jetzt keinen | jetzt noch | lamb sale | lang | last vue | last weeks | last year | left trello
-40 lessons are | long , | meant | meeting | migration and | more of | moved its | my surname | nachts keine
-40 nan on | nells | newsletters | newsletters N | not # | now #amount | of course | of good | on holiday
-40 ostermann | past ≈ | per | phew | phew $ | ramipril auf | ready now | remind | rice | room so | rote | saw it
-40 seconds altogether | selling the | senior as | shes = | smoking for | so lang | so lessons | spaß ,
-40 stamp collection | tamsys | tamsys moved | the caravan | the deliveries | the newsletters | the release
-40 the town | to do | too long | too while | treasurer | trello | trello , | try | unit #amount | up coffee
-40 vertritt | vertritt ihn | vorstellungsgespräch | vorstellungsgespräch vorgezogen | vue component | wanted
-40 we get | weder N | week instead | weeks mess | whole group | whole stamp | wieder fleisch | with smoking
-40 yara so | yusuf | ~ = | ~ alten | ≈ N | ≠ gone | ≠ 出 | ≡ #amount | 专 业 | 中 , | 二 中 | 保 | 到 #time
-40 又 不 | 可 乐 | 各 #amount | 后 过 | 四 = | 四 班 | 围 | 坏 | 坏 了 | 妇 | 存 | 宁 那 | 客 也 | 年 校 | 开 二
-40 开 完 | 快 | 成 ≡ | 招 放 | 改 #days | 改 成 | 改 跑 | 有 道 | 末 从 | 柳 | 校 招 | 没 夜 | 测 试 | 满 ≈ | 狗
-40 班 交 | 班 改 | 的 ~ | 的 电 | 礼 | 笔 记 | 缸 | 老 公 | 舞 | 花 | 菜 | 记 全 | 超 市 | 还 | 钢 | 馆 | 麻
-35 #amount = | #daypart 改 | #time #daypart | #titled retired | +airing | +aufs | +begin | +bikes | +dave
-35 +edition | +einundzwanzig | +emil | +fingern | +fishing | +geklaut | +gelandet | +gesellenbrief | +gesund
-35 +gig | +het | +horrible | +insurance | +lahm | +lohn | +lunch | +lungs | +mum | +nadeln | +o | +past | +prefers
-35 +shrinking | +slated | +smoking | +stone | +stricken | +sucht | +tap | +tongue | +trainer | +wecker | +wedding
-35 +where | +zimmer | +二 | +仨 | +分 | +啊 | +圈 | +墨 | +存 | +安 | +建 | +教 | +油 | +派 | +盖 | +礼 | +糯
-35 +绣 | +谢 | +过 | +镜 | +额 | , earlies | , how | , one | , van | , wann | , 一 | , 下 | = aber | = insurance
-35 = isnt | = keeps | = won | N almost | N any | N because | N by | N didnt | N erst | N gewechselt | N handed
-35 N so | N walked | ^ brightwell | ^ danuta | ^ dishwasher | ^ nans | ^ toners | ^ 到 | ^ 测 | ^ 琴 | a day
-35 account over | almost switched | along | and study | and you | ate ≈ | aunts | aylin | aylin zu
-35 behandlungsräume | behandlungsräume $ | bei aylin | bigger | bike | bin so | bleibt bei | booked us | branch
-35 brightwell | brightwell signed | cake | canon down | cards | chemo yesterday | clock | creatine | creatine for
-35 danuta kommt | dazu | die leitung | die rote | diese N | dishwasher plumbed | do you | driving test
-35 earlies from | einen gesellen | enough since | fasting | flight its | fly | four $ | für = | garage echoes
-35 gave terrys | gesellen | gesellen $ | got cut | got there | has ≠ | he does | he turned | heißt | her operation
-35 into = | is full | is very | jugend | later | leitung | leitung zurück | more creatine | nephew found | netflix
-35 nix $ | of selling | office lease | office to | old #amount | once more | operation , | our account
-35 paid uncle | party is | partys on | passed , | pies | pixel in | podcast person | puregym | puregym , | quarter
-35 rabbi | rabbi N | registry = | room of | rote N | s N | same as | schlafzimmer | schlafzimmer , | selber
-35 slugs | stays as | steht der | still ≡ | study at | sucht | suggest | sure , | talk to | team | teamleiter
-35 teamleiter , | terrys job | the canon | the pixel | the tongue | they say | time now | to go | toners
-35 toners from | tongue | tongue bar | turned ≈ | um ≠ | uncle off | up my | upgraded the | van will | vor zehn
-35 we are | we met | went heat | wieder teamleiter | with rabbi | wk | worries | worries , | wouldnt start
-35 ~ shut | ≈ glasses | ≠ been | ≠ 起 | 个 = | 份 证 | 又 挂 | 吃 | 围 着 | 在 ≈ | 在 没 | 多 | 婆 回 | 定 店 | 年
-35 开 门 | 弟 今 | 满 #amount | 球 $ | 纸 | 行 , | 要 ≠ | 跑 ≠ | 跑 到 | 身 份 | 转 专 | 这 | 道 | 都 不 | 险 今
-30 #amount left | #amount zu | +absetzen | +ask | +au | +banging | +change | +cream | +dacre | +dkb | +each
-30 +employee | +garten | +gesellen | +gf | +ghents | +grans | +hill | +hours | +ich | +libre | +luca | +mad
-30 +mammy | +maternity | +mein | +migration | +mo | +my | +nells | +newsletters | +nix | +ours | +penicillin
-30 +prices | +rabbi | +rid | +sal | +skodas | +slugs | +snapped | +spanish | +strong | +suggest | +thick | +thread
-30 +were | +windows | +yusuf | +假 | +出 | +天 | +期 | +游 | +物 | +财 | , bed | , november | , papyrus | , says
-30 , seit | , verkaufsleiter | , 房 | = also | = costs | = friend | = kollegin | = one | = time | = when | N go
-30 N kommt | N office | ^ arlo | ^ dacre | ^ ingrid | ^ kestrel | ^ transit | ^ yusuf | ^ 结 | a room | about
-30 all fittings | arlo | arlo started | bed til | been put | cigarette since | class is | clock $ | coeliac
-30 cream | dacre | dacre lost | darts | darts , | day is | die erste | ditched jira | dogs dont | drive a
-30 each week | eating baguette | erst um | exaggerated | exaggerated and | fair enough | fine $ | fittings there
-30 free lunch | froh | garage , | haha $ | hamster and | hat seit | havent | heil | home ! | home 了 | hubspot
-30 i kept | i liked | ice cream | ingrid | ingrid can | isnt on | isnt ≡ | its office | job dogs | kestrel
-30 kirchenchor | later since | lingvo | maths up | me each | meine | no , | november neu | oder $ | on meeting
-30 on nights | on squat | out and | outside | papyrus | papyrus deinstalliert | passports | passports in
-30 putting maths | remind me | renamed , | said $ | side | so froh | squat | squat today | tariq | taught
-30 that exaggerated | the darts | the passports | they went | time to | transit | tues same | verkaufsleiter
-30 verkaufsleiter doch | very | were N | weve left | yet , | you wrong | zum | zusätzlich | ~ 已 | 个 安 | 也 开
-30 了 我 | 剩 = | 卓 | 卓 屏 | 台 下 | 子 现 | 安 卓 | 定 期 | 宝 , | 对 , | 慢 | 接 着 | 期 到 | 期 昨 | 桌 | 楼
-30 注 | 用 啦 | 的 房 | 真 | 笔 定 | 第 | 负 #amount | 踢 | 钟
-25 #number , | +allergologen | +aunts | +birken | +buried | +chapters | +chemo | +doesnt | +drovers | +fish
-25 +garantie | +gearbox | +gräser | +ha | +halt | +hurt | +id | +jahre | +kangoo | +lift | +morning | +ne | +neue
-25 +niesen | +papyrus | +remains | +spalding | +spritzen | +stubborn | +tell | +total | +tüv | +v | +vier | +一
-25 +同 | +格 | +筑 | , honest | , 超 | = #date | = be | = does | = week | >6 | ? ? | N abgegeben | N fox
-25 N storniert | N verschiebt | N we | N ≡ | ^ i | ^ zwickau | a charity | account has | been merged | carpets out
-25 covid | daylight | daylight robbery | doesnt | dropped the | e , | fennel with | fired | für den | gloss
-25 gloss ! | has cut | has handed | heut | is black | lease can | läuft jetzt | meine eltern | merged with
-25 my lease | neue N | noch einen | our steel | pet | pipe | remains | remains our | rent free | roasted fennel
-25 seit märz | sofort #amount | spotify , | steak | steel supplier | still there | swimming class | the carpets
-25 up #daypart | us work | vier behandlungsräume | wants | waschmaschine | wedding | well $ | went = | were open
-25 work on | yet | zwickau | zwickau machen | ≠ off | ≠ to | 中 | 乐 刻 | 价 | 保 转 | 出 ≈ | 刻 | 刻 跑 | 可 | 帮
-25 底 $ | 挂 | 画 | 行 倒 | 课 | 门 | 高 二
-20 #number erhöht | +apixaban | +behandlungsräume | +bossing | +chair | +film | +frau | +geschrieben | +gläser
-20 +helping | +hilfskräften | +hip | +mittelkürzung | +paying | +plants | +viel | +wird | +woman | +übrig | +塞
-20 +检 | +爸 | +码 | +辣 | +领 | , daylight | , rest | = aus | = gelegenheit | = paid | >16 | N is | N new
-20 N noch | N she | N 订 | ^ dry | ^ tariq | ^ werner | ^ 朋 | ^ 送 | along $ | an N | bow | change | down once
-20 dry jan | eltern wissen | funeral plan | fährt | gate sales | give me | got ≈ | hat meine | i havent
-20 ich schon | is closed | it here | jetzt erst | let us | lunch | no gate | often , | old house | shall
-20 supplier since | test | that funeral | there $ | und endet | verlängert und | was | week and | went up | werner
-20 with y | wurde verlängert | ~ N | 业 批 | 开 了 | 来 的 | 海 | 知 | 考 了 | 赶
-15 +all | +cant | +feels | +flexible | +macht | +sofort | +taking | +warden | +weißt | +们 | +子 | +频 | , came
-15 , garage | , 人 | beers | choir , | die hebebühne | go ≡ | good last | hair | hebebühne | hebebühne hab
-15 i love | i pulled | im team | ist so | jez #amount | keinen | key | notsprechstunde bis | nächsten #days | once
-15 place in | pump | refunded | saying | since were | so ne | somebody | team jetzt | the cold | thinkpad
-15 this one | too , | vom N | wegen | were only | ≈ 来 | ≡ so | 去 $ | 我 弟 | 电 动 | 车 线 | 门 $
-10 +cargo | +fired | +lauf | +life | +mi | +slid | +still | +vertrag | +体 | +左 | +然 | +黑 | , 工 | ^ cut
-10 ^ need | ^ robbo | clinic | die zwei | it ≠ | kept | let N | mann $ | my mates | put her | robbo
-10 robbo coughed | rota my | to my | war | went in | ≈ off | 了 个 | 他 的 | 来 $ | 脚 | 过 年 | 面
-5 +erhöht | +milks | +标 | +签 | +越 | ^ im | anymore $ | ausm | badge , | i went | off until | podcast | salsa
-5 taken over | theres | tram | um halb | up and | up with | zimmer | 今 天 | 你 一 | 光 , | 发 | 大 | 子 归
-5 跑 了 | 进 | 错
5 #date , | +date | +down | +gone | +permit | +日 | +疼 | , damp | , he | , since | , 隔 | = had | = jetzt | N an
5 ^ gave | been in | cage | for #amount | gone on | hand , | hot | ihn | july | net | no going | off to | raus ,
5 son in | up the | 膝 | 膝 盖
10 #days 发 | +batch | +helix | +price | +sadly | +she | +uns | , bei | , doctors | , handed | , schon | = so
10 ^ darf | ^ make | allergic to | alte ist | and were | bitte | bought a | der garage | die wohnung | doctors
10 go to | images | images stay | in feb | is da | l | lot | makes | mama | not my | of the | only a | pension
10 plug | ran out | retired , | sat on | site | small | sold it | the damp | the images | the kids | the van
10 to have | vorgezogen | yep , | 个 不 | 也 有 | 也 跟 | 乳 | 做 = | 去 , | 弃 | 拍 | 班 了 | 血 | 西 安 | 要 ≈
15 #amount a | +anyone | +bahn | +cruise | +feb | +lives | +merged | +oben | +walls | +week | +zwei | +够 | +村
15 +订 | , did | , explorers | , hers | , sold | , we | , 换 | , 脱 | ^ den | a big | altogether , | and the
15 any longer | be | cats | changed | die ~ | discharged | eingezogen | explorers | explorers as | first $ | five
15 gets | gibt es | gym as | hat es | in her | lease ran | list , | measured | night and | nimm | passed | rent on
15 retainer | seven $ | strom | swapped | the chair | the letter | the wagon | thing , | took on | unheard | uni
15 vans | wagon | 也 不 | 了 不 | 从 这 | 制 | 司 | 奶 了 | 归 | 机 器 | 没 动
20 +canal | +gehabt | +he | +heating | +know | +measured | +sich | +sod | +split | +teilzeit | +they | +traded
20 +wagon | +五 | +答 | , 甲 | N sister | ^ renamed | ^ traded | ^ 乙 | a week | after | agm | altogether
20 autumn , | beach | blazer | bothered | car keys | dance | doesnt = | drei | driver | fertig | five , | fwd to
20 game | got a | home 清 | house #days | i told | into | it ! | it in | keep writing | mi | mit seinen | nah
20 of it | organiser | other $ | passed = | please $ | point , | schwester $ | so all | successor | swapped the
20 the agm | the plug | the stairs | they said | to kill | weds | week , | whole | win | writing un | zurück | ≈ !
20 ≈ to | ≠ of | 乙 | 乙 厂 | 今 #daypart | 十 二 | 厂 裁 | 去 西 | 家 了 | 我 = | 断 | 是 阿 | 的 停 | 籍 | 舅 舅
20 觉 $
25 +ago | +backwards | +be | +leider | +look | +midnight | +normaler | +nötig | +passing | +replaced | +slot
25 +though | +tobys | +trees | +布 | +烂 | +箱 | +米 | , could | , cuts | , pulled | , sod | , 膝 | = emigrated
25 = finished | = in | = verschoben | = 今 | N a | ^ der | ^ fell | ^ two | ^ 诊 | account $ | back on | backwards
25 being = | bitte in | bones | brought forward | buried | by the | came back | changed to | d $ | dort
25 face like | finger | first #days | geblieben | geblieben $ | girl , | good , | hob | i gave | ich aufgegeben
25 in today | internet | it backwards | it costs | it goes | its a | job | lost ≈ | mit ~ | monat | need ,
25 new hip | nimmt | nobody | noch einmal | now and | of our | offen | on N | ouch | out , | peace | posters
25 posters , | potatoes $ | qa | qa now | reeds | register | reichen | reichen $ | rota $ | s , | s bahn
25 seit die | sell to | she gave | six | slid to | sweating | tag , | the beach | the grey | the old | the posters
25 the summer | the way | theyve | transferred | twelves | und | under twelves | was put | we never | we sell
25 week the | who , | with | with qa | worden , | work , | zwanzig | ≡ 不 | 一 身 | 不 | 不 做 | 再 轮 | 品 $
25 回 老 | 徒 | 怕 了 | 戴 内 | 所 | 手 机 | 新 | 早 | 班 归 | 甲 班 | 老 戴 | 诊 所 | 话 来 | 说 #titled | 身 轻
25 院 了
30 #amount in | #daypart 称 | #days ! | +bonfire | +bothered | +christmas | +direct | +doch | +hob | +m | +net
30 +nothing | +nurse | +organiser | +posters | +release | +saddle | +sale | +salsa | +stopped | +successor | +that
30 +voted | +wach | +you | +上 | +叫 | +掉 | +是 | +架 | +蛋 | +西 | +诊 | , cfo | , done | , early | , got
30 , his | , zweihundertfünfzig | , 挪 | = done | = going | = slid | N danke | N steht | N with | ^ bin | ^ binned
30 ^ came | ^ english | ^ quiz | ^ 推 | a young | acht $ | also $ | and was | back in | because the | beides
30 better | booked the | both of | bowl | caught | cuts | damp was | deleted the | dem | der ist | desk | eating
30 einen = | einschläfern | einschläfern lassen | ever again | exactly what | finn hat | flat white | girlfriend
30 git | green | had the | handball | has sold | hes got | him an | hochgesetzt , | home 边 | if im | in #days
30 in and | in til | in zwei | is empty | is in | is out | isch | ist wieder | its just | jetzt der | k | kid
30 kinder | kunden | lad in | leave so | leaves me | lowered | moved it | mum says | my son | neun | no thats
30 now the | of them | of ~ | off just | own place | passed ! | pulled the | quicker | retainer now | run ,
30 same value | schloss | sea | seating | seit #days | sharks | ship | signed off | start | sticks $ | stop ,
30 stunde | swimmings | swimmings off | table | table , | tess | the night | the owl | the seating | the till
30 there | tues | von #amount | w N | was after | we talk | what N | window | xmas , | zweihundertfünfzig
30 zweihundertfünfzig $ | ~ has | ≈ of | ≡ | ≡ 出 | 不 结 | 不 跑 | 也 退 | 你 记 | 做 | 别 ~ | 女 士 | 字 $ | 局
30 徒 弟 | 流 量 | 碰 | 管 了 | 粉 | 走 的 | 起 涨 | 还 给 | 那 一 | 那 天 | 金 $ | 饭 $
35 ! ≈ | #amount keep | #amount kommt | #amount 才 | #days , | +#time | +aufgehört | +beach | +brauch | +cut
35 +delivery | +dort | +from | +früher | +game | +geblieben | +get | +jump | +letters | +liest | +lost | +mir
35 +name | +one | +pickles | +putting | +roof | +stays | +swimmings | +target | +tausend | +timetable | +tired
35 +too | +tools | +tour | +trained | +used | +wahl | +weve | +whatever | +做 | +减 | +到 | +原 | +孩 | +座 | +找
35 +改 | +输 | , actually | , bought | , bye | , cage | , einfach | , lowest | , pilates | , robbery | , though
35 , unpacking | , weds | , 以 | , 改 | , 老 | = money | = weiter | = who | = 了 | ? = | N found | N who | ^ alles
35 ^ beds | ^ bio | ^ git | ^ he | ^ jenkins | ^ physics | ^ storm | ^ 延 | a burst | abgebrochen | adjourned
35 again since | all hers | alone | alten | always was | and run | anymore , | are done | bad | bad $ | bags
35 beautiful | beds are | been selling | beiden | believe | belly | bikes | brauche ich | burst | cage is | call
35 charge | checked | church hall | clean | curate | door $ | early , | entry | ersten = | falsch gesagt
35 finish at | first | foot $ | from ≠ | funding | ganze N | geht auf | geklatscht | geklatscht $ | gezogen $
35 goodness | goodness , | gumtree $ | has her | have split | he has | her birthday | home council | home lift
35 home out | home swapped | home tues | home view | home 晚 | home 这 | hundert | hundert N | ich sehe
35 ich weder | in my | iphone | it go | it off | its at | j , | just #amount | keine = | kitchen table | lapse
35 last release | let it | live | longer , | lowest | lowest is | maybe $ | migraines | migraines , | misheard
35 more needles | must have | my migraines | my soul | nach #amount | needles | nicht ≈ | no $ | nun mit
35 on gumtree | op brauche | other amount | ours for | physics | physics doubled | pilates i | quit = | rid
35 rid of | sehe | sehe hundert | sell | selling like | sooner | soooo | soul to | spielt | spielt jetzt
35 stall now | surgeon | thank goodness | the account | the bowl | the building | the girls | the under
35 the window | til #amount | to quarter | um #time | unpacking | unpacking as | unverändert | unverändert $
35 usual from | vegan since | von gestern | vs | waiting list | walk to | wieder ganz | wohnung ist | worden
35 you the | ~ 吧 | ≈ , | ≈ have | ≡ to | 一 = | 也 回 | 了 $ | 了 ≠ | 从 今 | 位 改 | 凉 | 分 成 | 剩 ≠ | 吉
35 同 到 | 喽 $ | 头 | 带 | 带 娃 | 带 饭 | 店 不 | 我 又 | 房 , | 挪 | 提 了 | 提 到 | 是 = | 机 号 | 没 了
35 白 的 | 的 团 | 的 小 | 签 到 | 粉 了 | 让 人 | 记 错 | 调 | 贵 $ | 跑 = | 配 | 长 $ | 鲈 | 鲈 鱼
40 #amount den | #daypart 也 | #days weve | #titled wants | +adjourned | +arbeite | +aufm | +bills | +bless | +boy
40 +cats | +caught | +chap | +cub | +curate | +eggs | +firsts | +general | +gumtree | +handball | +hard
40 +invested | +it | +luck | +missing | +müssen | +no | +places | +plug | +pro | +registered | +reichen | +ruhig
40 +season | +sign | +soooo | +sorry | +stuff | +tage | +third | +under | +why | +writes | +两 | +司 | +器 | +四
40 +夫 | +意 | +砍 | +祥 | +肾 | +袋 | , a | , curate | , doctor | , steht | , too | , zero | , 不 | = , | = man
40 = packed | = spätschicht | = we | N aufs | N back | N der | N kind | N says | N started | ^ #daypart | ^ do
40 ^ jodies | ^ leave | ^ malte | ^ migration | ^ pay | ^ thats | ^ 一 | ^ 孩 | ^ 鲈 | a balcony | a month
40 a night | achtzehn | added | alle = | alles | badly | balcony ? | beat him | bees , | booked | bought my
40 bring | cafe | cant face | card , | chap wants | correction | cross about | curate as | dentist , | dessen
40 did for | doch | easter | eldest moved | extension | fertig mit | flood | free | from her | ganz normal
40 gave you | geh ich | gehört jetzt | gewechselt | ha | hab den | haben wir | hall is | hands | her at | him $
40 hips wont | home everything | home 妈 | hurry | i see | im on | in april | is the | ive | jodies | july ,
40 kind , | lamb $ | lass | laws | like mad | little | malte haben | managers job | married | miles | mind | mine
40 mit , | moved N | my car | my hand | my hips | my niece | my old | nei | new address | night retainer
40 no #amount | note for | nurse called | nursing | ok , | old ≈ | on at | ouch $ | over | piece | plug on | probe
40 quicker than | quite cross | right the | saddle | scanner | she moved | she wants | so the | spät | stays ,
40 stays where | still #days | stopped = | that for | the bank | the bees | the driver | the fete | the managers
40 the music | the photo | the post | the roof | the winter | these days | they | those | thru | took ≈ | uv
40 was wrong | wir nicht | words | year | ~ as | ≈ zu | ≠ as | ≠ drauf | ≠ not | 上 了 | 不 得 | 了 #time | 了 数
40 儿 媳 | 充 | 充 电 | 写 两 | 后 ≠ | 四 | 在 ≡ | 多 睡 | 妇 生 | 姓 章 | 学 没 | 对 调 | 帽 | 我 改 | 我 留
40 才 回 | 才 对 | 挪 去 | 掉 一 | 散 | 欣 | 混 了 | 睡 会 | 砍 | 祥 | 立 | 给 | 肩 | 肩 膀 | 膀 | 让 | 记 混
40 调 了 | 鱼 太
45 ! start | #amount every | #amount extension | #amount no | #days 那 | +ach | +arrived | +bachgasse | +bags
45 +blazer | +booked | +books | +box | +brauchst | +business | +damit | +dessen | +earlier | +eigene | +eigenen
45 +endlich | +forgotten | +girlfriend | +got | +heron | +hurry | +ideas | +jacked | +k | +kriegen | +lowered
45 +migrated | +mon | +mornings | +nee | +offen | +out | +peanut | +qa | +quicker | +repair | +rests | +school
45 +seeing | +seven | +so | +sold | +stomach | +surgeon | +verein | +verlängerung | +备 | +对 | +州 | +思 | +月
45 +毕 | +用 | +禾 | +阳 | , , | , as | , dauert | , grr | , handy | , judge | , names | , staying | , surgeons
45 , tess | , von | , ≠ | , 脚 | = # | = #amount | = being | = rang | = sleeps | = team | = will | = 丢 | = 出
45 ? not | N each | N lass | N next | N stopped | ^ compiles | ^ fig | ^ home | ^ mir | ^ nope | ^ sat | ^ with
45 ^ 妹 | a job | a while | ace | actually | actually $ | and ive | archive | auch ≠ | aufgegeben | aus und | baby
45 because ≡ | bei den | bitte , | books | btw $ | by #amount | can ≈ | christmas , | company , | compiles
45 compiles in | couple = | dauert | day to | den #number | dentist and | der bub | die frau | dont need
45 double = | down , | drin | dropped out | dublin | eleven | erledigt | ever so | everyone , | extended it | feet
45 fig | finish | fixed at | for #days | gallery | gate = | god | got #number | got the | grad | grr | grr $
45 half | hall | has replaced | hat sich | heard most | her mind | him , | home flat | home garden | home ~
45 home 单 | i have | i stopped | im = | is = | is ≈ | ist | ist gestern | ist leider | ist verkauft | it ,
45 it for | its = | jacked in | jeden | jetz = | json | judge | just the | kommt | kommt jetzt | leider | like the
45 makes two | man says | me | misread the | moans | money $ | name and | next = | nicht nötig | niece , | night
45 noch dabei | noch zwei | nope | not a | not far | now rent | nudeln | off for | off today | offen ,
45 only since | org | pinched | please , | pls , | pool , | pounds | proper | pulled out | rent a | reorganisation
45 ring back | sagt | sawed | sawed it | says no | schule | she also | she minds | shes | shop with | short
45 sie mir | sign writers | signed with | so weve | spanisch | stands | stopped going | storm | take = | that i
45 the archive | the book | the girl | the insurance | the meeting | the reorganisation | the weekend | the weekly
45 the wife | they sawed | time this | to #date | to be | to drop | travel , | tup | tv | two | village hall
45 walked , | went back | which makes | whole = | wir auch | with #amount | won $ | youtube | ≈ | ≈ instead
45 ≠ because | ≠ mornings | ≡ now | ≡ 退 | 下 来 | 个 对 | 丫 | 乐 天 | 出 | 刚 | 刷 | 又 高 | 后 都 | 哪 有
45 在 找 | 天 拜 | 女 | 子 升 | 子 清 | 室 了 | 彻 | 彻 底 | 打 $ | 找 #titled | 把 房 | 新 开 | 是 二 | 月 起
45 机 上 | 清 | 清 仓 | 游 泳 | 满 食 | 爸 妈 | 留 着 | 答 辩 | 被 我 | 调 到 | 辩 | 过 | 退 | 都 $ | 里 只 | 铁 $
45 队 ,
50 # = | # 了 | #amount an | #amount today | #date 起 | #days there | #time ! | #time 水 | #titled was
50 #titled 休 | +alles | +already | +aufgegeben | +cache | +club | +entsprechend | +fete | +flat | +flogged
50 +forward | +geh | +heart | +jonas | +kunden | +lapse | +lehre | +needles | +neg | +neither | +nope | +now
50 +packed | +parking | +pets | +pinched | +retire | +sad | +sehen | +shop | +spielt | +taste | +them
50 +verschoben | +保 | +债 | +冻 | +印 | +各 | +员 | +搞 | +整 | +电 | +脚 | +降 | , cleared | , er | , feels
50 , lifes | , moneys | , rain | , spielt | , 从 | = are | = both | = jhv | = over | = there | = 下 | = 五 | = 交
50 = 回 | = 室 | = 打 | = 订 | = 转 | N begraben | N doing | N halt | N place | N please | ^ ach | ^ airline
50 ^ correction | ^ docs | ^ handed | ^ sorry | a flat | abgebrochen , | abgesagt , | abgesetzt , | abnahme
50 after , | again , | alles ab | als geplant | and they | aufgegeben , | baby $ | bank went | banned
50 before #amount | bei = | board ? | boiler ate | booked $ | bought | box after | chapel | clean $ | coach has
50 das | dauert genauso | day #number | day since | days | delivery $ | den sängern | der alten | do nursing
50 do the | down today | eat bread | endlich | er ist | es aus | every | fifteenth | fireproof | fireproof box
50 football $ | früher als | full time | garden centre | garten | gateway | gekündigt , | german | gewechselt $
50 god rest | gone | hab auch | had #amount | havent unpacked | her off | his bank | home here | home 工 | hotel
50 hour , | i was | immer ≠ | in , | in spring | is let | it is | it so | it to | its called | j | jetzt die
50 jetzt immer | jobs dont | k , | keyboards | landed | lets | lifes | lifes too | lol , | mateos | money | moneys
50 museum | my brother | my correction | myself | n | nah , | new | no point | not ours | now | now in | nurse
50 nursing , | oat | of new | on that | own at | pay rise | paying #number | perfect = | printers | pushed
50 putting = | quiz has | raised my | retired | reversed | rowing | run every | said | same , | say | says #number
50 scho | schon $ | schon um | season , | see her | sein N | seit drei | she had | shut | shut the | since jan
50 single | small street | sold $ | spelt | started #days | studio | summer | surgeons | sängern | sängern noch
50 take her | that my | the bills | the books | the cats | the fireproof | the lift | the season | the south
50 the title | to finish | too much | too old | too short | trouble , | two now | two since | und #amount
50 unpacked yet | up #number | use = | verschiebt | walls | we migrated | were | were at | where it | wife
50 with #number | year is | zwei = | ~ | ~ no | ~ 换 | ≠ der | 上 班 | 业 上 | 两 个 | 也 还 | 了 = | 了 推 | 五 ,
50 今 年 | 们 在 | 俩 | 倒 | 刚 来 | 别 再 | 别 提 | 功 , | 包 的 | 区 了 | 台 | 在 不 | 外 婆 | 太 太 | 套 今
50 子 吃 | 弃 了 | 弟 那 | 成 功 | 我 姓 | 我 自 | 拼 音 | 接 了 | 接 回 | 推 光 | 提 | 旺 财 | 涨 的 | 用 接
50 的 还 | 约 | 给 人 | 缩 | 订 单 | 话 了 | 过 的 | 钱 了 | 闲
55 #amount bekommen | #amount into | #amount telly | #daypart , | #number so | #number to | #number verlängert
55 +N | +abbestellt | +after | +arbeiten | +asked | +baths | +border | +bowl | +brought | +checked | +cuts
55 +divorce | +docs | +doing | +done | +ebay | +eight | +falsch | +father | +gateway | +git | +gls | +hot
55 +häcksler | +invites | +jenkins | +kid | +kill | +laws | +lifes | +machines | +menu | +miles | +mine | +not
55 +nursing | +orders | +ouch | +part | +promoted | +read | +really | +redo | +shares | +tagged | +teuer | +theyve
55 +towbar | +turned | +umgestellt | +unpacking | +upstairs | +veg | +wore | +young | +youve | +zweimal | +丫
55 +催 | +八 | +定 | +拼 | +普 | +江 | +泳 | +睛 | +糖 | +结 | +缩 | +落 | +走 | +首 | , asked | , dropped
55 , gestern | , hab | , kein | , macht | , nans | , ohne | , went | , 翻 | = and | = died | = full | = geht
55 = moved | = works | = 一 | = 以 | = 对 | = 是 | >3 | N allergic | N first | N put | N up | ^ as | ^ dead
55 ^ garage | ^ gone | ^ haben | ^ mit | ^ nah | ^ nicht | ^ should | ^ we | ^ 两 | ^ 哪 | ^ 改 | ^ 管 | about =
55 again on | always has | an egg | and his | and let | and my | anything $ | asking $ | at my | auch ,
55 aufgehört | because her | believe , | better , | bungalow $ | by #time | by hand | came today | can see
55 captain | car with | chickenpox | closed , | coming $ | daf | dann sein | day brought | den kindern
55 deployed #amount | der = | died on | dont pay | drin , | e | elbows | empty , | erledigt , | extended
55 fahre kein | fair $ | fees | fees had | fire $ | fish again | floor with | folded | folks | follow
55 for everything | fourth | from kent | gekündigt | go | guess who | has become | have decided | her to
55 his call | home own | home 无 | home 读 | home 走 | hour ago | i like | ich nur | ihn $ | in tues | insurance $
55 into ≈ | ist auf | ist raus | it #daypart | its #phone | its #time | itself | jetzt meine | kent , | kill
55 kindern | kommt dann | last night | laufen | magen | mich wie | mind $ | mind again | mine $ | morning and
55 moved from | mussten | must | my boss | my new | my own | nans dancing | need ≈ | needs the | ner | new line
55 new name | new number | nope gave | nothing on | nun | nun = | of july | of mine | office | old for
55 other time | our own | out over | owner | photo | plays | press | racing | rebuilt | rebuilt it | renewed
55 rest of | run $ | session was | seventy | shes coming | shes dropped | shes ≈ | since i | so its | so mines
55 so there | sparen | squeezed | still #amount | stück , | tanks | that over | the bin | the council
55 the gallery | the saddle | the whole | till #number | till next | tobi | took that | towbar car | twenty
55 twenty , | um fünf | und fahre | under | up , | velvet | verschiebt sich | wants = | was $ | washing | we can
55 we do | we swapped | white , | wire | with football | wohnung | young | zero | zoo | zwei tage | ≈ if | ≈ 只
55 ≈ 的 | ≠ $ | ≠ at | ≠ bc | ≠ 五 | ≠ 就 | ≡ of | ≡ 了 | ≡ 换 | ≡ 现 | ≡ 那 | 一 的 | 三 , | 两 千 | 买 = | 人 碰
55 先 生 | 全 | 到 ≠ | 又 长 | 发 电 | 回 | 女 的 | 对 面 | 式 退 | 接 受 | 掰 | 掰 了 | 早 晚 | 晚 各 | 有 我
55 期 = | 来 电 | 爸 , | 现 | 用 = | 盘 出 | 看 | 续 $ | 老 太 | 贫 | 贫 血 | 起 | 跟 = | 过 来 | 间 是 | 面 新
60 ! im | # and | #amount #number | #amount last | #titled 说 | +auf | +baby | +belly | +bleibts | +board
60 +correction | +dauert | +doc | +doctor | +dusted | +einschläfern | +fair | +fees | +flood | +gesagt | +handed
60 +handing | +j | +landlady | +laugh | +lets | +linear | +medals | +milkman | +muddled | +nachbarn | +needed
60 +nudeln | +personalmangel | +proper | +rauf | +renumbered | +reversed | +scanner | +sehn | +ship | +skipping
60 +spelt | +strom | +tape | +tess | +twelves | +upped | +we | +worth | +串 | +九 | +修 | +傅 | +免 | +啦 | +急
60 +由 | +胖 | +调 | +遍 | , #amount | , moved | , neighbours | , sind | , 如 | = abgesetzt | = free | = fällt
60 = gibt | = heron | = name | = shift | = und | = up | = 卡 | = 摘 | = 改 | = 的 | = 跑 | = 跟 | N account
60 N here | N moved | ^ back | ^ beides | ^ bring | ^ cancelled | ^ chucked | ^ elbows | ^ flat | ^ me | ^ nicked
60 ^ nö | ^ prima | ^ sefton | ^ you | ^ 看 | a j | a normal | a y | abgesagt | address , | after the | agm and
60 all of | already $ | also | and gone | and im | and in | anymore | au | aufgehört , | beats | between #amount
60 bleibt | both = | boxes | brauchts | broke up | brother | bub | but only | buy the | bye | can have | cleared
60 customers happy | da ! | darf | das ding | debian | dinners | fahre jetzt | far $ | fell through | find ich
60 finished | folded , | free now | gave it | gehabt $ | goes out | got ≠ | ground = | hab die | habe die
60 has taken | helping $ | herd | his girlfriend | home 锡 | home 静 | i = | is # | is dead | is ≠ | it will
60 jetzt bei | jetzt ~ | just like | king | knackered | lassen und | lie | like his | lost her | main ,
60 meeting , | mehr = | month $ | my limit | nach | neither , | net $ | nichts | nicked | nimmer , | not enough
60 nö | nö , | old ones | on foot | own bed | paar | palpitations | permanently | permanently , | prima | prima ,
60 pune | registry office | said yes | scared | scrapped | sefton | sefton put | sheet for | shipped | sieben
60 since #days | since the | sister in | site fees | skip | steht jetzt | stolen | stop | street every
60 tanks been | the garage | the hat | the other | the scan | the train | them to | they give | things $ | to ≠
60 took | trainiere | und der | up a | verlegt , | wages | wages go | waren die | we cant | went live | what she
60 when the | where she | with ≡ | zwei wochen | ≈ a | ≈ came | ≈ clean | ≈ hour | ≈ mindestens | ≈ now | ≈ since
60 ≈ 清 | ≠ and | ≠ 必 | ≡ gone | ≡ 回 | 事 了 | 产 假 | 从 上 | 休 产 | 伙 | 位 没 | 别 | 千 , | 千 一 | 千 二
60 印 | 又 看 | 在 操 | 奶 粉 | 子 版 | 打 了 | 改 了 | 样 $ | 献 | 献 血 | 砍 到 | 礼 拜 | 第 ≠ | 罪 | 老 大
60 血 证 | 还 = | 都 去 | 错 了 | 饭 ,
65 #amount from | #daypart now | +abgeschlossen | +ai | +alone | +bc | +bea | +both | +cancel | +chapel | +daft
65 +dear | +devs | +dont | +evening | +ffm | +habe | +hochgesetzt | +künftig | +legal | +mixed | +nicked | +off
65 +pnpm | +pregnant | +pub | +pulled | +pushed | +rebuilt | +resigned | +spät | +starts | +tester | +than
65 +three | +trouble | +verdoppelt | +versprochen | +weeks | +weggeworfen | +丑 | +仓 | +充 | +成 | +撤 | +沐
65 +热 | +版 | +自 | +装 | +重 | , always | , been | , mums | , unbefristet | , 俩 | , 女 | , 左 | , 还
65 = #titled | = abgebrochen | = abgegeben | = ffm | = have | = never | = swapped | = under | = verlegt | = 停
65 = 撤 | = 散 | N for | N live | ^ finn | ^ gibts | ^ moved | ^ nobody | ^ ≠ | a piece | after that | all the
65 along , | als N | also ≈ | and i | and its | auf ≈ | backwards $ | badge and | because we | beer | begged
65 begraben , | beside N | bin jetzt | blazer , | bleibt noch | book by | box | bungalow | bus $ | call by | came
65 cancel | cancelled it | caved | come again | cut it | d | da | die haben | egal , | eigenen | eighteenth
65 eighteenth , | erst ≠ | every day | every ≡ | eyes , | face the | feb and | for #number | fox | funeral was
65 für ihn | geh | getauscht , | go from | gp | gute | has been | has put | he got | heaven | her on | holiday ,
65 home first | home keys | house is | i rebuilt | ich ein | ich wieder | in both | in october | is #time | isnt ,
65 ist jetzt | it by | it ≈ | jetzt $ | joined N | kann ich | landlord | läuft aus | made | make that | makes ≈
65 mint | moved up | my landlord | my last | müssen | new #amount | new #number | no more | normal | not be
65 not need | onwards | other phone | paper , | passed it | piece $ | plenty | point | poor things | powers ≈
65 registered | rein = | relief | rm ≈ | room $ | sehen , | several | short , | single = | sisters drive | sold =
65 split up | tag | tester | tester , | the course | the toddlers | then , | there since | they cut | this term
65 those , | toddlers , | umgestellt $ | und ≈ | uns in | up ≠ | upgraded | verlängert , | vorsitz | voted
65 we changed | weekly | went with | what , | wir jetzt | wrong about | yesterday | zurück , | ~ #number
65 ~ anymore | ~ died | ≈ hated | ≠ 发 | 不 用 | 了 | 了 没 | 人 #amount | 人 家 | 以 后 | 位 | 傅 说 | 剩 我 | 功
65 医 生 | 十 五 | 司 #date | 员 | 喝 白 | 头 喽 | 如 | 娃 | 工 了 | 才 = | 把 = | 拜 | 推 到 | 搬 过 | 早 章
65 生 , | 睡 | 立 早 | 约 了 | 经 #amount | 给 同 | 脱 | 见 = | 跟 着 | 通 了 | 验
70 #amount again | #amount ago | #date 入 | #number is | #time 出 | #titled $ | #titled paid | +agm | +bekommen
70 +care | +chickenpox | +debian | +enough | +fertig | +folded | +hangs | +hotel | +marketing | +mitm | +nacht
70 +need | +never | +niece | +nowt | +passed | +pc | +preis | +rebooked | +register | +reorg | +schau | +schwester
70 +sharks | +shifted | +squeezed | +stolen | +uni | +washing | +weds | +wheeled | +停 | +兰 | +刘 | +呢 | +国
70 +字 | +捷 | +散 | +漏 | +甜 | +舅 | +转 | , | , by | , cut | , full | , going | , weil | , yes | , 推 | , 清
70 , 熬 | = lease | = ne | = schleppen | = 和 | = 空 | = 辞 | N aus | N bought | N married | N this | ^ both
70 ^ guess | ^ half | ^ hes | ^ it | ^ lass | ^ on | ^ renewed | ^ retired | ^ she | ^ signed | ^ zwei | ^ 现
70 ^ 编 | a year | acht | alle #amount | alternate | and hes | anything | apt | asked to | back , | bis sieben
70 brain | bring it | c , | can lie | comes | counted | cut = | days is | den = | den alten | documentary
70 dreimal | dropped ≈ | e $ | each = | ended | essays | eyes | fella = | folks $ | for him | four , | geht
70 geschieden | gestern erste | gestorben | gestorben , | get it | gibt | going | guessing | guys | hinterm
70 home last | home love | home 個 | home 沙 | home 田 | home 近 | i actually | immer | in on | instead but
70 is cancelled | it first | jan | jetzt , | jugs | lassen , | last #amount | last review | laut | lehre | lifts
70 lights $ | mat | me ever | minds | misread | mixed them | monthly from | morgens | mouse | neuerdings
70 new router | nicht verlängert | once a | only on | out ≡ | own #amount | paid his | people keep | poor =
70 put = | put it | renamed | research | rest | review , | ruhig | seven | sis | so please | son | steht =
70 steht seit | storm took | suit me | take effect | teacher | the home | the jugs | the kitchen | the mat
70 the publisher | the sea | think its | up so | van , | veggie | walk ins | was the | we split | weekend ,
70 with it | won , | year #number | ~ bleibt | ~ ≈ | ≈ 八 | ≠ #daypart | ≠ it | ≠ yesterday | 一 个 | 个 $ | 中 考
70 公 司 | 分 到 | 受 | 在 大 | 开 ≈ | 心 $ | 我 #amount | 报 了 | 排 座 | 摊 | 断 ≈ | 早 不 | 泳 , | 腰 | 跟 他
70 都 | 随 便
75 #amount 走 | #titled 是 | +april | +changed | +dropped | +extension | +filled | +foundation | +gah | +gehen
75 +grass | +hören | +iphone | +mart | +october | +ones | +paar | +politely | +relieved | +renew | +retainer
75 +round | +scan | +schedule | +student | +verkauft | +working | +wrecked | +凳 | +喽 | +尔 | +摆 | +管 | , and
75 , ive | , number | , oat | , physio | , remember | , starts | , ≡ | , 教 | , 日 | = r | = to | = turned
75 = zurück | = 挪 | = 签 | N again | N baby | N board | ^ coach | ^ drei | ^ ist | ^ nein | ^ new | ^ nimm
75 ^ not | ^ 早 | ^ 答 | air | and it | and shut | and ~ | back to | binned = | bloods | boss is | both
75 called it | carers | choir site | dafür | danke , | do all | does = | fasten | fourth = | fully | gone , | h
75 hat aufgehört | hats mit | her name | holen | home with | hühner | i come | its ≠ | jez ≈ | left us | love =
75 läuft wieder | mit | money now | moped | my mistake | my ≡ | off , | off = | office of | one , | open and
75 own = | put to | says = | says i | schreibt | second #number | she does | sind | start on | statt = | stop the
75 taken on | tausend | teacher even | they , | this season | through , | took my | trailers | turns out | w =
75 was right | went over | ~ 是 | ≈ days | ≈ und | ≈ 那 | 三 十 | 不 带 | 个 的 | 了 师 | 剩 | 古 | 弄 错 | 徐
75 想 吐 | 撤 | 是 人 | 晚 已 | 期 了 | 皮 | 胃 | 脆
80 #amount day | #days and | +bees | +bumped | +caved | +clear | +coach | +confession | +daheim | +dauerhaft
80 +department | +fahre | +giffgaff | +gleich | +goodbye | +hats | +high | +holen | +lack | +neuerdings | +neun
80 +onwards | +quit | +r | +right | +sales | +sits | +storm | +taken | +vermieter | +折 | +推 | +柜 | +练
80 , #titled | , home | , meine | , vorgezogen | , 凉 | , 家 | = btw | = course | = fainted | = finally | = kept
80 = macht | = off | = shut | = war | = year | = 干 | N have | N i | ^ all | ^ da | ^ everything | ^ fox | ^ its
80 ^ shaved | ^ surgeon | ^ ≈ | ^ 从 | ^ 她 | ^ 教 | ^ 错 | a firm | a ≈ | and ≈ | apart | archive and | auf den
80 aufs | bake | bike = | budgie | cant get | clear | contracts | damp | das dritte | das zu | dauerhaft | did ,
80 done and | end of | everything from | everythings | falsch | flooded | for me | from this | garage is
80 gardening | gelöscht | go ≠ | hab | has the | hin , | honestly | it any | its the | its ≈ | kill me | land ,
80 last month | lead | legs | life | meetings | messen | migrated | my back | not taking | of this | ok $
80 packed it | passed in | seit N | shaved the | six $ | stelle | sticks | stood down | teurer geworden
80 that from | the ring | to come | too big | uhr | us time | vorgezogen , | want ≈ | woman called | yes but
80 you keep | ~ yes | ~ 给 | überall | ≈ babyyy | ≈ by | ≠ left | ≡ ist | 也 | 停 , | 儿 那 | 厂 | 又 喝 | 号 没
80 回 $ | 女 朋 | 年 = | 我 到 | 抱 | 换 老 | 旧 , | 是 a | 气 上 | 汇 | 的 $ | 盖 | 签 | 箱 $ | 说 ≡ | 负 ≈ | 轻
85 #number wohnung | #titled 带 | +allowed | +bad | +buy | +crashing | +eleven | +extra | +hit | +hol | +honestly
85 +jumped | +light | +nicht | +noon | +owner | +plays | +plumbed | +shoved | +trial | +weekly | +嫂 | +嫌 | +更
85 +死 | +牛 | +辩 | , house | , im | , uncle | , 外 | = away | = can | = doesnt | = dont | = haben | = stood
85 = 上 | = 先 | N came | N more | ^ putting | ^ went | ^ 又 | a $ | alles $ | alternate #days | and use
85 ausgetreten , | back clear | be N | bestanden | born | building | buying | card | chuffed | closed the
85 delivered | der tasche | do ≈ | donor | empty | es | finally out | früh | gave = | grass | grey | hand
85 have left | het | hob i | home month | home moved | in charge | in november | is as | ist gestrichen | january
85 job in | laid | land | last #number | leaflet | legs , | me as | month = | nach der | ner #number | nicht $
85 ohne = | on #days | other value | pulled | put me | quit , | read it | retirement | same #number | says
85 second tester | seit #number | seit dem | sheet | shut at | sleeping | so thats | so were | switched off
85 these | told the | traded | und den | up by | up in | upgraded to | verein | vom = | waage | well now | weve
85 wieder = | with an | yes $ | ~ #days | ≈ $ | ≠ | 了 以 | 交 给 | 到 三 | 啦 , | 喽 | 天 起 | 弟 | 掉 了 | 束 了
85 涨 , | 百 $ | 管 = | 箱 不 | 还 跟
90 #days s | +altogether | +any | +büro | +captain | +doubled | +eighteenth | +erst | +extended | +grr | +hosts
90 +lot | +moved | +neuer | +press | +samples | +scared | +scrapped | +since | +storniert | +timo | +transfer
90 +verkürzt | +废 | +弃 | +户 | +省 | +鱼 | , follow | , 分 | = fine | = kit | = last | = machen | = takes
90 = wird | = 毕 | = 那 | ^ day | ^ vet | ^ 他 | as N | beko mit | bye = | come in | der ≈ | doubled | down to
90 eggs are | er = | every time | fifty | found a | geld | going back | him down | him on | hochgesetzt | home 区
90 i lost | i take | i write | is good | jetzt N | kauf | last week | line in | mehr , | mittlerweile | moved =
90 overbooked | overbooked , | placement | pushed to | replaced | roggen | schreibt sich | sick of | so that
90 started at | stayed | the laser | the top | up when | upped | wrong , | y | ~ ok | 上 月 | 了 别 | 千 $ | 卖 掉
90 她 上 | 户 要 | 生 说 | 的 ! | 碰 $ | 能 睡
95 #amount early | #days night | +abgekauft | +achtzehn | +bare | +because | +bye | +deleted | +dried | +e | +em
95 +ended | +episode | +erledigt | +hated | +love | +redland | +runtergesetzt | +updated | +wurde | +吐 | +闲
95 , insurers | , running | , 办 | = aufgehört | = back | = closed | = doch | = lives | = test | = wurde | = 算
95 N been | ^ last | ^ nach | abgemeldet | am #days | at last | binned | bossing | cancelled | cash , | dem =
95 dem bruder | dumped | em | family | gestrichen , | handed in | hat mich | heart | home 多 | home 睡 | i now
95 ideas for | im in | ja ~ | jetz | jetzt ≈ | longer = | n the | new schedule | our = | over , | over there
95 runs $ | second hand | them now | thieves | ups | worked | zu viel | ~ it | ~ stays | übergeben | 上 周 | 二 =
95 人 喊 | 大 夫 | 小 班 | 开 家 | 的 家 | 罐 子
100 #amount down | #amount 来 | #titled 给 | +cancelled | +dafür | +five | +gibts | +impossible | +insurers
100 +misread | +must | +nö | +squared | +swapped | +switched | +wrong | +写 | +饺 | , bless | , saves | , statt
100 = #time | = go | = mehr | = 八 | = 提 | = 让 | ^ dont | ^ ha | ^ sold | ^ wrong | ^ 产 | apixaban | deleted
100 der | doing = | doors | draufgelegt | für immer | go by | got too | haben | if you | künftig | lassen
100 last session | monthly | moved out | my = | plumbed | saves | that since | the extra | this year
100 turned #amount | until the | venue flooded | wrote , | ≠ from | 下 #days | 了 现 | 五 $ | 吐 , | 子 一 | 就 不
100 马 ,
105 +ham | +instead | +nehm | +weg | +了 | +吉 | , #time | , second | , with | = abbestellt | = gestern | = has
105 = kriegt | = passed | = 我 | ^ das | ^ neither | ^ passed | ^ theyve | ^ 别 | ^ 已 | ^ 调 | and left | gave
105 good till | habe | hat sie | hockt | home 来 | hr | i are | i eat | into his | january $ | letter came | mad ,
105 me #number | more = | new = | ours | place , | rust | spring $ | the drive | to love | to work | us , | 台 归
105 如 今 | 招 牌 | 搞
110 #number #number | +# | +doors | +fifty | +heaven | +laid | +summer | +迁 | , boss | = any | = his | = is
110 = storniert | N house | ^ had | ^ 配 | ab | ab N | and = | and only | back at | hat angerufen | home finally
110 home in | little N | my hands | no ~ | she was | sod the | that now | the bungalow | wont do | ≈ erhöht
110 ≈ seit | 咯 | 啦 | 学 期 | 安 了 | 就 着
115 +anything | +bust | +nah | +notice | +stairs | +统 | = altogether | = weg | = 太 | = 批 | = 都 | abgegeben
115 auf ≠ | bescheid | bin | colleague , | daheim | der hat | die = | die stunde | empty $ | geändert | h ,
115 has shifted | head of | i get | i want | mein = | rücken | walk | ≠ since | 右 边 | 害 | 那 条
120 ! | +医 | = hat | = walked | ^ doc | ^ jacked | ^ neue | easter $ | haben den | heard | hundred | nach dem
120 no need | only #amount | since | the ≠ | there is | to #time | to say | ≈ =
125 +anymore | +contacts | +letzter | +renewed | , net | , steel | , 打 | = out | = 搬 | ^ # | british | given
125 home 租 | inzwischen | of = | replaced = | so ≠ | the = | um $ | with = | would rather | 开 学 | 式
130 +rules | +term | , 往 | = thing | ^ erst | cancelled = | says ≈ | wieder , | with this
135 +lower | +monthly | +nein | = kommt | = retired | ^ ne | ^ 不 | for good | from here | seit | swapped = | us to
135 新 =
140 +白 | = 昨 | ^ only | at all | bei mir | home 间 | im a | let = | not ≡ | sie hat | weder | what i | ≈ she
145 = 卖 | ^ shes | all #amount | for keeps | from today | left = | paid = | signed | told you | you please
150 = 从
155 = habe | = started | ^ = | chucked = | so = | 不 请
160 = gone | = 退 | ^ 是 | not =
165 = bin | as of
170 = hab | = 被 | no = | ≈ from
175 = went
180 ^ ≡ | 后 =
185 ^ er | nur noch
190 heard lead
195 = 也
200 = | = ist
205 home 搬
215 dropped =
220 this morning
250 share
"""
"""Weights in hundredths of a log-odds, each followed by the features that have it."""
