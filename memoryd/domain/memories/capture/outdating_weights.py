"""Weights for `outdating`, as fitted by `make eval-corrections ARGS=--fit`."""

TABLE = """
-665 *
-255 was ≠
-245 = says
-210 ^ in | jetzt auch
-200 = bleibt | was at
-180 = still | seit ≠
-175 is not
-170 nearly | 个 了
-165 N jetzt | he says
-160 = sich
-150 = called | ? $ | is no
-145 +cake | lost #amount | sold #number | to pay | 厂 ,
-140 N sold | closed on | is called | 我 ≠ | 牌 是 | 雅
-135 N läuft | ^ #titled | heard alone
-130 +hair | +heut | +schreib | +舞 | , thats | = stays | ^ 对 | him a | is back | moving | wants to | ≡ = | 爸 的
-125 +bring | +order | +test | +托 | , any | , put | = does | N #titled | ^ mums | and back | back again | costs ≈
-125 might | only , | says hes | 迟 到
-120 +nearly | +tomorrow | +vom | +龟 | , lovely | , 花 | N you | almost | at work | basket | one | stopped the
-120 wir die | ≈ # | 明 天 | 是 ≠ | 比 | 王
-115 #days now | +almost | +bank | +basket | +fox | +manuscript | +moving | +哭 | +肉 | , is | , then | = party
-115 before | einkäufer | its an | need a | order | since ≡ | sure | this = | we did | 了 ≈ | 夜 班 | 客 | 改 到
-110 +choir | +might | +think | +town | +独 | = N | = next | = ok | = the | = 又 | ? | ^ write | ^ 咖 | ^ 阿
-110 basket $ | dentist $ | firm , | how | my ≠ | not # | oder | was ill | ≠ in | ≠ 到 | 也 归 | 我 要 | 挂 了 | 毛
-110 请 假 | 费 | 车 险 | 还 是 | 锁
-105 +allen | +body | +call | +home | +key | +mal | +meinen | +milk | +physio | +slipped | +删 | +染 | = made
-105 = sister | = that | = tonight | N off | ^ yes | ^ 隔 | also comes | didnt | dream | film | gave him
-105 horfield round | ich bin | last year | next week | not N | she said | since last | this ≡ | tomorrow | was in
-105 weiß | 妹 搬 | 带 了 | 点 | 的 店 | 等 | 还 在
-100 ! i | #date 了 | +approved | +bald | +github | +入 | +坚 | +理 | +睡 | , garage | , need | = from | = it
-100 = wasnt | N # | N gestern | N passed | ^ my | ^ split | ^ theres | ^ when | all day | all ≈ | am ≠ | brace
-100 came on | dass | drone | due | full , | hühner weg | immer #days | it were | just | no longer | noch nicht | ob
-100 on #amount | since ≠ | so no | switched the | the #time | third time | well | yes , | ~ and | ≈ ≈ | ≠ too
-100 了 上 | 他 , | 代 | 周 | 来 = | 那 年
-95 #amount N | #time today | +abend | +bird | +bloke | +frühe | +oder | +ok | +rastede | +road | +seinen | +street
-95 +挂 | +测 | , came | , thanks | = broke | = der | = of | = 发 | N bin | N ist | ^ #days | ^ am | and has | aunt
-95 aunts | bike | diese | fast | for N | gas | hens | hilti | home #amount | i put | kollegin | lost the
-95 meeting at | mysql | nights | online , | pipe , | snow | sold out | swim | switch | switch the | their = | then
-95 week ! | why | wieviel | wrote the | ~ was | ≠ i | ≠ today | 了 五 | 像 | 动 车 | 在 是 | 大 宝 | 套 摘 | 手 ,
-95 才 是 | 是 大 | 样 | 的 那 | 笑 | 老 婆 | 花 , | 说 要
-90 #daypart $ | +answer | +asking | +bis | +biscuits | +cafe | +even | +friend | +laden | +loft | +match
-90 +münchen | +nice | +night | +normal | +own | +sag | +schmerzfrei | +sister | +switch | +um | +vetter | +vote
-90 +伙 | +内 | +拖 | +爷 | +目 | +闺 | = das | = den | = die | = mir | = stay | = 来 | = 要 | N ade | N gibts
-90 N wurde | N zu | N 订 | ^ frau | ^ 五 | ^ 同 | a wedding | another = | as always | baby , | be in | bis
-90 client | corsa | die #number | dishwasher | dogs | draft | fahre nicht | for october | from me | haha | i dont
-90 in #number | in by | in den | in winter | is closed | morgen | moved the | my #days | nem | new , | no ≠ | on ≠
-90 opened a | partys | said $ | still = | sugars | this | von | was late | work now | yet , | ≈ an | ≠ 去 | ≠ 给
-90 了 十 | 他 说 | 去 = | 句 | 在 睡 | 多 少 | 成 # | 新 闻 | 是 #amount | 是 不 | 没 人 | 群 | 苏 州 | 车 牌
-90 这 ≠ | 邮 | 饭 了
-85 #time | +#daypart | += | +ab | +apron | +aunt | +froh | +guess | +injections | +nans | +partys | +past
-85 +payment | +pool | +seepferdchen | +sisters | +sofa | +theres | +things | +thought | +twins | +unter | +view
-85 +übernimmt | +übrigens | +会 | +壁 | +慢 | +立 | +薪 | +请 | +过 | +香 | , mine | = fell | = fuchs | = same
-85 N all | N havent | N mehr | N retired | N yet | ^ the | ^ 到 | ^ 把 | ^ 班 | ^ 表 | ^ 这 | above | alarm
-85 and N | app | arent | asked if | best | blood $ | braces | der jhv | drum | eigenes zimmer | eigentlich
-85 fishing | for this | found the | giving blood | groups | invoice | ja | jetzt um | less | mal | maths | me a
-85 mein mann | mit den | neighbours | noch einen | painted , | party | plan for | replaced N | show me | staging
-85 studio with | tea | the #number | the report | thing $ | thinking | this once | this time | to know | to ≡
-85 too , | traurig | was cancelled | wenn | whats | wo | years | zimmer , | ~ went | ≠ on | ≡ $ | 不 涨 | 也 =
-85 会 员 | 全 家 | 八 , | 共 | 写 | 到 = | 商 | 场 原 | 奶 奶 | 家 = | 工 位 | 巴 | 得 我 | 早 场 | 涨 到 | 烤
-85 的 同 | 盒 | 笔 | 绝 | 续 , | 要 是 | 课 | 车 车 | 除 | 题
-80 #number | #number and | #number since | +angefasst | +aunts | +beide | +beside | +dreimal | +fitted | +found
-80 +fully | +invoice | +lounge | +may | +motor | +ob | +reckons | +remind | +sick | +st | +stunden | +thing
-80 +versetzt | +walks | +waren | +wrote | +值 | +共 | +几 | +双 | +吓 | +告 | +宽 | +搏 | +母 | +泡 | +玩 | +知
-80 +秒 | +群 | +胎 | +能 | +脏 | , update | , 背 | = keeps | = with | = 再 | = 家 | N habe | N month | N to | ^ ab
-80 ^ at | ^ good | ^ replace | ^ 嗯 | ab #amount | add | auch noch | beans | bleibt bei | cleaner | code | dads
-80 datenschutz | der nachbarin | der spätschicht | dog | dry | drüben | einem | export | fallen | gestrichen $
-80 glad | haben N | his badge | horfield | i could | i still | if | is still | ist da | jealous | my aunt
-80 normal $ | number $ | of his | oliven | on her | paper ledgers | parcels | physio , | plate | signed , | sofa
-80 sold it | super | taxi | termin | thank you | that $ | thats it | the bit | the horfield | to get | to move
-80 und ≠ | was shut | went fine | wie immer | wifi | wind | with ≈ | wohn ich | won the | year ≈ | ~ the | 一 三
-80 一 共 | 乔 | 了 还 | 五 千 | 准 | 到 #amount | 博 | 友 的 | 叶 | 同 学 | 嗯 | 多 了 | 宝 | 工 钱 | 底 $ | 才 ≈
-80 拉 的 | 改 用 | 数 | 是 的 | 测 | 烧 | 球 | 穿 | 第 | 纸 了 | 要 | 说 不
-75 # in | #amount days | #amount 八 | #days auf | #number with | #time last | +aber | +about | +across | +allein
-75 +amazing | +arme | +bits | +bullet | +canon | +cheque | +cotham | +cousins | +dann | +dass | +de | +deliveries
-75 +diese | +drone | +fingers | +gold | +gut | +haha | +happy | +heil | +imagine | +jealous | +kleine | +knie
-75 +later | +mann | +morgens | +print | +quiz | +sang | +scoffed | +sein | +seite | +stove | +sure | +teacher
-75 +their | +tonight | +travel | +whos | +x | +下 | +体 | +博 | +宝 | +徐 | +怎 | +梦 | +比 | +短 | +航 | +赶
-75 +醒 | +问 | , tests | , woke | , 写 | , 师 | , 门 | = dem | = mate | = mich | = month | = switched | N !
-75 N sind | N sports | ^ a | ^ tell | a friends | a second | a vote | allotment | angeblich | anyway | apartment
-75 bins | black | bus at | calls | case | clock $ | comes at | corvane | cotham | deliveries | dinner | ear
-75 favourite | flats | for | gate | get done | gut | have a | her fella | home on | home 不 | ihren | imports
-75 in #date | kirkby | labels | law | level | lodgers gone | me = | message | minutes | move the | nachbar | next
-75 not | notion | off N | on #number | other = | out ≠ | paid , | paragraph | print | says it | says that | spare
-75 speak every | surname is | that the | the form | the mortgage | the pipe | these = | told him | unsere | wann
-75 when she | whether | wild $ | ≈ N | ≠ dafür | ≠ ist | 不 完 | 中 音 | 主 | 也 要 | 克 | 公 也 | 吃 饭 | 同 桌
-75 后 #days | 后 来 | 售 | 园 | 坏 | 墨 了 | 妇 | 就 管 | 就 这 | 工 资 | 手 三 | 提 醒 | 搭 | 服 | 灯 | 环
-75 琴 了 | 的 老 | 算 了 | 舞 | 贴 | 部 , | 酸 | 陈 | 音 部
-70 #amount 那 | #date no | #days from | #time 才 | +angeblich | +app | +badge | +between | +canaries | +case
-70 +clean | +clock | +comes | +d | +dark | +dogs | +ear | +fellow | +fishing | +fährt | +gloss | +ins | +ive
-70 +jede | +kitchen | +kollegin | +lassen | +mattress | +near | +needs | +parcels | +passt | +picked | +say
-70 +sechs | +site | +soul | +statt | +stone | +viel | +whether | +≡ | +凉 | +分 | +同 | +安 | +想 | +王 | +站
-70 +缸 | +肝 | +键 | , before | , took | , 啊 | , 帮 | = alles | = black | = lol | = mother | = notes | = raised
-70 = till | = unverändert | N are | N gets | N goes | N meine | ^ $ | ^ anton | ^ 小 | ^ 打 | ^ 猫 | a #days
-70 a cold | a vape | am #number | and lost | and put | anderen | anton ist | are N | are going | as is
-70 ausnahmsweise | bett | brothers | come , | come back | cook , | didnt = | drittes N | electric , | erst um
-70 extractor | go on | got #amount | got cut | guest = | had ≈ | hand in | heute | hill | him in | hiya | home $
-70 home again | home now | home 个 | home 没 | if the | is it | it over | ja = | kidding | kitchen , | kollege
-70 log | luck | minute | move | my father | my good | nach ffm | newsletter | not us | not ~ | ours $ | per
-70 place ! | price | read me | ready | rein nach | rooms with | rumour | runter auf | sausage | sechs | shed
-70 shift | shopping | swapped rooms | tamsin | tell | the car | the cottage | the newsletter | the nurse
-70 the wind | they = | tmrw | to #amount | to her | train to | training | turned up | vergessen , | von der
-70 we are | we were | workshop | zum N | zusätzlich | ≈ at | ≈ with | ≠ = | ≠ 才 | 不 是 | 中 , | 乘 | 了 #
-70 二 中 | 五 菱 | 借 | 压 药 | 去 吃 | 司 现 | 吗 | 哪 | 啊 不 | 嗯 , | 回 = | 墨 | 天 的 | 媳 | 定 | 师 , | 庆
-70 床 位 | 店 庆 | 开 二 | 弟 弟 | 成 N | 我 , | 我 去 | 改 跑 | 是 ≈ | 检 挪 | 电 了 | 着 了 | 纪 还 | 老 纪 | 菜
-70 菱 | 要 $ | 豆 | 贷 | 门 | 间 没
-65 ! edie | # 的 | #amount since | #amount 只 | #date now | #titled 转 | +again | +arent | +ausm | +ausnahmsweise
-65 +banger | +betriebsrat | +bleib | +bub | +calls | +cheers | +coffee | +copy | +deck | +draußen | +drüben | +fit
-65 +flipping | +gestern | +gesund | +grand | +holiday | +house | +hühner | +kollege | +late | +lock | +looks
-65 +mention | +message | +mysql | +natürlich | +note | +official | +pension | +plumber | +puregym | +ready
-65 +rumour | +schule | +seine | +sides | +someone | +staging | +stehen | +thesis | +tram | +treasurer | +trotzdem
-65 +unterschrieben | +vorm | +walk | +where | +wild | +wind | +乘 | +事 | +今 | +准 | +嗯 | +护 | +挥 | +旅 | +桂
-65 +椅 | +海 | +盒 | +盖 | +脱 | +视 | +赔 | +辣 | +运 | +题 | , ex | , lucky | , send | , told | , whats | , 二
-65 , 吓 | , 烦 | , 脂 | = also | = beim | = included | = insurance | = nur | = opens | = this | = through | = took
-65 = what | = 住 | N ab | N doesnt | N heißt | N kommt | N nehme | N taken | N venue | ^ N | ^ and | ^ is
-65 ^ right | ^ whats | ^ 楼 | ^ 项 | accountant , | all good | also #number | april , | auf #amount | belt
-65 between ≈ | braucht nachts | but no | came ≠ | cancelled puregym | changelog | changelog from | coffee | covers
-65 cut off | daughter | delivers | diesen | do we | edie | etsy | extractor , | file | finished the | floor over
-65 font | forklift | garage = | garage unchanged | gave N | gone = | got there | greenhouse | haben $ | has =
-65 has ≠ | her in | here , | his = | home 下 | home 现 | home 都 | i only | ice | ich $ | in = | in that
-65 insurance is | is my | isnt | its #amount | its for | jetzt noch | juniper | keep it | kriegt | lab | lange
-65 later | lease can | leaves at | left at | libre | lift $ | lisinopril | lucky | mass spec | mate N | meine N
-65 meint | minutes from | mir noch | mortgage | mot , | mother is | move to | my lease | nachts keine | new chain
-65 nimmt jetzt | not mine | not that | november neu | now actually | nur = | of ≠ | on meeting | one of
-65 own extractor | own room | passed its | postcode | pump , | rained | raised her | rent | rents | saw it | she =
-65 shifts | since #amount | smoking | snail | so neither | solo | song | sourdough | story , | tell the | tern
-65 than last | the N | the accountant | the allotment | the empty | the etsy | the mass | the sofa | threw
-65 ticket , | trainee | truck | try | up on | using N | violin | visa | wall , | war nur | we = | went = | ~ in
-65 ≈ #time | ≈ 了 | ≠ s | ≠ the | ≠ ≈ | ≠ 打 | ≡ ! | 不 $ | 也 有 | 了 我 | 了 新 | 儿 子 | 共 是 | 关 门 | 几
-65 分 机 | 去 ≠ | 啦 ! | 士 , | 头 孢 | 媳 妇 | 孢 | 布 | 店 = | 店 休 | 批 | 改 写 | 数 ≠ | 早 , | 晚 = | 机 没
-65 来 那 | 气 $ | 添 了 | 琴 | 用 了 | 种 了 | 第 #amount | 肝 没 | 节 | 订 量 | 起 订 | 转 了 | 院 , | 隔 | 难
-65 鞋
-60 # ≈ | #amount zu | #amount 关 | #days wohn | #titled 重 | +add | +anderen | +apartment | +ausbildung | +badly
-60 +befördert | +berth | +best | +bins | +blew | +brambles | +brendan | +changes | +cheaper | +conny | +cos
-60 +cottage | +dirty | +dritte | +extractor | +flats | +fürs | +hafermilch | +hearts | +hip | +hives | +job
-60 +kidding | +können | +labels | +law | +letzte | +libre | +mach | +mail | +meint | +mum | +nem | +nervous
-60 +newsletter | +osaka | +other | +paragraph | +pin | +plaster | +quasi | +rained | +sechst | +shame | +signature
-60 +sixth | +sogar | +swim | +thanks | +tmrw | +wann | +worker | +zip | +乔 | +候 | +厉 | +友 | +吗 | +园 | +奖
-60 +妹 | +孢 | +实 | +无 | +松 | +格 | +礼 | +章 | +笔 | +纸 | +色 | +踏 | +轮 | +轻 | +零 | +黄 | , brendan
-60 , canteens | , da | , day | , figma | , ganz | , suggest | , walked | , 就 | , 怎 | , 没 | , 给 | = bitte
-60 = double | = page | = put | = schon | = stopped | = 做 | = 吃 | >26 | N down | N lives | N son | N verträgt
-60 N wont | ^ claras | ^ find | ^ morning | ^ pls | ^ sag | ^ 发 | a chair | a girl | after N | after last | ages
-60 allianz | almost switched | always | auf N | away $ | bis N | biscuits | blew | both kids | brendan
-60 brendan went | brother is | btw , | candles | canteens | canteens too | cello | centre down | chilli | claras
-60 claras gone | concert | contract , | correct , | cron | cron to | dann | das schleppen | deliver | dem N
-60 deploy | deploy on | did i | dirty | down the | drei , | drop the | e at | employee | every winter | figma and
-60 fine $ | foot , | forklift , | four $ | frei | fringe | from N | gitlab 迁 | give | got changed | grade six
-60 hab = | hamster and | handed over | hands $ | have my | hedge | heil | hers in | home = | home 用 | hätten
-60 ich seit | imagine | in this | is black | is dirty | it after | ja , | jira | jira , | jobs , | kindle | klingt
-60 knocked | kostet jetzt | kühlschrank | landline | last ≈ | lastpass | late | laughed | lessons | lindenstraße
-60 lindenstraße , | line | mabel | mach ~ | mess | met | mit N | more N | moved its | name , | nicht von
-60 noch #number | not moving | nächsten #days | obviously | on top | once , | partner | party is | passed grade
-60 past ≈ | penicillin | pond | rep | room since | s = | same ≈ | saw | schon wieder | see , | server | service
-60 shame | shame , | sheep | side was | sister had | sister has | so both | soul $ | statt N | talk | talking
-60 tears | tee | the forklift | the landline | the lodgers | the rep | to give | to normal | together ≈ | too from
-60 took over | tractor | trotzdem | umzug | vor = | was closed | what $ | with ≠ | wobbly | wohnen | wohnen sie
-60 worker | xmas | you and | zip | ~ is | ≈ already | ≠ weniger | ≠ ≡ | ≡ is | ≡ 说 | 一 起 | 丁 | 东 是 | 个 #
-60 中 #amount | 京 | 从 gitlab | 会 | 到 ≡ | 前 头 | 务 | 北 | 医 保 | 又 是 | 啥 | 四 班 | 天 #time | 好 | 室
-60 室 友 | 差 | 快 | 您 | 慕 | 成 #amount | 我 以 | 搬 去 | 搬 家 | 支 | 改 游 | 早 班 | 明 | 来 过 | 梯 | 注
-60 班 交 | 的 房 | 码 $ | 练 都 | 经 = | 羡 | 羡 慕 | 老 马 | 让 = | 语 又 | 车 了 | 过 了 | 进 去 | 金 鱼 | 问
-60 风
-55 # | # s | #amount 也 | #amount 红 | #daypart 都 | #days | +ate | +bacon | +beer | +boiler | +bosch | +canteens
-55 +cigarettes | +cold | +concert | +corvane | +crave | +dad | +deploy | +didnt | +diesen | +dkb | +doctors
-55 +electric | +erhöht | +fancy | +fast | +flooded | +frag | +frame | +freezing | +frist | +funeral | +gets
-55 +head | +herren | +hopefully | +how | +ice | +if | +ill | +imports | +jena | +kommt | +landline | +life
-55 +lorry | +loyalty | +luckily | +minus | +neue | +of | +pair | +postcode | +registry | +ring | +rotated
-55 +screen | +signed | +single | +soft | +soon | +stick | +tabletten | +talking | +taxischein | +tisch | +title
-55 +top | +twice | +tüv | +unterschreibt | +wheel | +wieviel | +window | +乐 | +兴 | +再 | +勤 | +商 | +姨 | +寄
-55 +左 | +当 | +打 | +搭 | +明 | +昨 | +桶 | +碰 | +罐 | +网 | +股 | +裁 | +记 | +许 | +象 | +风 | , dass
-55 , naturally | , of | , you | , 跑 | = aus | = blew | = bus | = cousin | = er | = everywhere | = orders | = rent
-55 = steht | = 挂 | = 说 | ? ? | N almost | N altogether | N daughter | N hochgesetzt | N ins | N seit | N south
-55 N und | N wifes | ^ danke | ^ kestrel | ^ vor | ^ yep | ^ 下 | ^ 停 | ^ 朋 | ^ 朗 | ^ 结 | a weekend
-55 aber noch | alm | alm , | and bought | and still | anderen = | aufs N | ausbildung | biscuit | bits $ | bulb
-55 by ≠ | came , | carpets | chips | council money | crowd went | da alm | da und | dark | das N | der N | do ,
-55 double | einer | elternzeit | etsy for | ever , | ex | fee is | fittings | flour | flu | fog | for anymore
-55 for his | found it | frame | from #time | garage echoes | garten $ | gdansk | geholt $ | gig | going off
-55 grade | ha $ | haben nur | had his | hamster | hand from | has no | he does | heute die | his hand | hof ,
-55 home me | homework , | i teach | i went | im hof | in case | is | is from | is now | it was | itll | just for
-55 just got | keine #amount | keinen | kestrel | klar | klar , | kleinen zimmer | lazy | lesson | letzten ≠
-55 liked | länger | machine in | mail from | maybe | meiner | milks any | mit gls | mixer | mobile | module
-55 more ≠ | mortgage is | nanas | naturally , | ne = | neighbours = | neue N | no ≈ | nobody = | note that
-55 now so | oat milk | of course | offered | ohne garten | opening | or | out on | own ≈ | payment | payments
-55 picked up | played | plot | price of | proud | pull | purple | rain $ | rather than | raum | ready now
-55 register ≠ | rein | rekord | rent free | retired on | richtig | room | s N | school = | second floor
-55 selling the | senior | sentence | shop $ | should = | since #number | snack | sod $ | sofort alle | sold his
-55 soll | sorry , | sprints | starts on | steigt | steigt jetzt | stuck | suggest | summer $ | super , | supplier
-55 teach | teaching | test = | thanks , | thanks for | that she | the chilli | the intern | the joke | the kiln
-55 the real | the release | the rota | the story | to #titled | to plan | too while | trumpet , | tyre | und N
-55 under ≈ | unsere N | us milks | usual | venue too | version | wait | wanted to | week | went heat | went off
-55 went well | what | wifes = | wild | worktop | yep | yoga | zimmer auch | zu ≈ | zum | ~ N | ~ ≠ | ≈ as
-55 ≠ night | ≠ this | ≠ 回 | 上 = | 不 再 | 不 在 | 个 | 乐 | 了 沙 | 会 , | 利 率 | 到 # | 到 #date | 卡 | 去 ,
-55 又 挂 | 又 添 | 壁 | 天 = | 客 也 | 差 点 | 帮 我 | 年 #amount | 年 去 | 开 完 | 很 | 想 | 我 喝 | 打 算 | 换 ,
-55 推 荐 | 收 了 | 收 到 | 改 成 | 时 候 | 是 十 | 朗 逸 | 析 | 班 车 | 琴 课 | 用 飞 | 的 ~ | 知 道 | 礼 | 给 别
-55 老 李 | 芒 | 芒 果 | 荐 | 评 | 课 换 | 谢 , | 谢 谢 | 逸 | 都 改 | 长 | 驾 照 | 验 小
-50 ! its | #amount verlangen | #time and | +#amount | +alarm | +allianz | +apple | +arla | +bei | +belt | +boxes
-50 +bruder | +bude | +bulb | +cello | +changelog | +chef | +chemistry | +cleaning | +client | +commissary
-50 +crying | +dancing | +dem | +dishwasher | +drovers | +durch | +ein | +ever | +file | +fittings | +flu
-50 +fortnightly | +frei | +futon | +für | +gekotzt | +gelandet | +great | +greenhouse | +halt | +hola | +hour
-50 +intern | +itll | +kestrel | +kita | +kühlschrank | +ladies | +lahm | +lazy | +level | +lisinopril | +live
-50 +llamo | +made | +marrow | +meine | +met | +micra | +mit | +mites | +move | +music | +nanas | +nineties
-50 +offered | +op | +outpatients | +painted | +piers | +police | +proud | +raum | +rents | +schrebergarten
-50 +scrap | +seinem | +sentence | +service | +silent | +slide | +snail | +sucht | +swimming | +thrilled | +tractor
-50 +training | +vegan | +vier | +warehouse | +whole | +wifi | +wobbly | +would | +zeke | +元 | +出 | +劳 | +右
-50 +媳 | +才 | +抽 | +教 | +析 | +检 | +派 | +混 | +满 | +熬 | +真 | +舍 | +芒 | +荐 | +跳 | +踢 | +辈 | +边 | +递
-50 , back | , barclays | , bashir | , crowd | , does | , ha | , lastpass | , senior | , shame | , swapped | , was
-50 = at | = braucht | = bub | = come | = coming | = should | = time | = unchanged | = won | = 报 | N anymore
-50 N bekommen | N ≡ | ^ arlo | ^ ivos | ^ kezias | ^ leaves | ^ local | ^ nearly | ^ need | ^ transit | ^ travel
-50 ^ zeke | ^ 听 | ^ 婆 | ^ 数 | ^ 莉 | ^ 行 | ^ 香 | a drone | a new | about homework | about renting | again
-50 ages , | ah | all fittings | all now | alle hühner | allianz zur | amlodipine | and didnt | apparently , | arlo
-50 arrow | arrow , | ask me | at ≠ | aye | azubi | badge , | barclays | barclays done | bashir | bashir sold
-50 because of | been ≈ | beside = | binned blue | blue arrow | brandschutzmensch = | bruder ist | bus | called
-50 cheese , | chemistry | chemistry to | coach N | couldnt | cut my | declan | den N | didnt say | die N
-50 died last | digicert | digicert for | do i | done last | eltern | fetch | field , | fittings there | flight
-50 flight its | floor | folder | free ≠ | from chemistry | gar nicht | garage has | gekotzt | gekotzt , | go back
-50 go with | grand | gregor | guide | had | has | hat schon | her from | hers | hes getting | heut fünf | hips in
-50 his N | home #date | home #days | home its | hour from | i cant | i love | i need | ich hab | im N | immer ≡
-50 intern | invoices | its police | ivos | ivos biopsy | jetzt zusätzlich | junge , | just moved | k $ | katrin
-50 kestrel got | kezias | kezias emigrated | kiln | kühlschrank wurde | ladies | last weeks | left foot | left ≈
-50 let the | letter from | licence up | local | läuft jetzt | mail | minus ≈ | morning now | morning so | my mums
-50 my surname | my wife | neuer kühlschrank | never have | new guide | new hips | nineties | not sure | nächste
-50 of parents | office afternoons | on holiday | on my | on port | our | over ! | overnight | overnight , | paper
-50 partys on | photos | pipe | playlist | police | port #number | postdoc | pupils | purple , | raus =
-50 renting own | rest $ | sat , | scored | seized | senior as | shifted pension | sie = | sieben , | since march
-50 singing | so #amount | spaß | stairs , | still do | sucht | summers | swapped digicert | swapped to | tage im
-50 taken up | takeover | takeover $ | talking about | team | than me | that it | that to | the cousins
-50 the evening | the licence | the nineties | the pond | the takeover | the tickets | the timetable | the twins
-50 them this | they were | tickets for | tiles $ | till #days | to take | today , | took = | train was | transit
-50 trinkgeld | twins | und jetzt | vor zehn | w the | wants #number | was | weeks mess | weg $ | welt | went by
-50 what = | will | windows | wir immer | with coach | with his | wording | xmas $ | years ago | you make
-50 you need | zeke | zeke wants | zieht | ~ kommt | ~ 上 | ≡ and | ≡ ≈ | ≡ 线 | 不 好 | 不 干 | 不 走 | 专 | 乐 乐
-50 了 睡 | 了 社 | 交 了 | 从 腾 | 位 = | 位 也 | 保 | 停 电 | 别 用 | 发 | 可 | 可 爱 | 右 眼 | 吃 | 后 就
-50 回 办 | 在 没 | 外 | 太 早 | 姨 | 宁 | 定 店 | 宝 , | 就 = | 怎 | 怎 么 | 思 敏 | 敏 分 | 时 | 晚 | 椅 | 测 试
-50 的 ≡ | 素 | 网 | 莉 | 莉 嫁 | 莉 莉 | 要 #amount | 讯 辞 | 贷 一 | 跑 ≠ | 跟 思 | 门 , | 门 牌 | 门 的 | 麻
-45 ! orla | #amount better | #time already | #time 必 | #titled now | #titled retired | #titled 撤 | +ages | +alm
-45 +arlo | +aye | +barclays | +bored | +born | +break | +can | +carpets | +chair | +croissants | +cromer | +dabei
-45 +dads | +dig | +digicert | +employee | +end | +enjoy | +es | +everywhere | +fetch | +ffs | +fog | +folder
-45 +geklaut | +geschichte | +geschrieben | +green | +groups | +hand | +hause | +held | +hill | +hingeworfen | +hof
-45 +juniper | +leipzig | +local | +lungs | +mabel | +make | +mammy | +memoir | +mitglied | +mobile | +morgen
-45 +papers | +payments | +pfeift | +pipe | +plates | +played | +raus | +re | +schon | +sieben | +slimy | +smoking
-45 +snapped | +starting | +steph | +strong | +studio | +suggest | +teach | +thank | +tutor | +unit | +uns | +vape
-45 +vor | +waiting | +wohne | +wording | +zusätzlich | +≠ | +包 | +售 | +妇 | +局 | +差 | +店 | +慕 | +撑 | +支
-45 +机 | +牌 | +率 | +穿 | +签 | +羡 | +腻 | +让 | +课 | +陆 | +额 | +黑 | +鼻 | , balconys | , bed | , kitchens
-45 , mines | , na | , ours | , poor | , wrong | = brother | = costs | = held | = ich | = isnt | = kollegin
-45 = when | = wouldnt | = 号 | = 教 | = 长 | N #number | N am | N bleib | N did | N geschrieben | N hatte | N nich
-45 N ohne | N pagers | N she | N stepped | N won | N year | ^ boxes | ^ dreamt | ^ emil | ^ hilltop | ^ if
-45 ^ ingo | ^ keep | ^ kowalke | ^ neuer | ^ this | ^ werner | ^ 测 | ^ 知 | ^ 金 | amazing $ | and made
-45 anyway , | appointment | are ≠ | asics | auf #number | aylin | azubi mehr | backup = | balconys | balconys bare
-45 bands | bed til | bei aylin | belt , | bestanden , | betriebsrat | bother with | boxes come | branch
-45 brothers = | cake | cant sleep | cheers | coal | council was | dancers | dancers gave | day centre
-45 der #number | dialysis | die katrin | diese N | diese woche | different | do you | dreamt | driving test
-45 each week | elm | elm in | emil | emil kickt | everything else | extra $ | finally got | finished middlemarch
-45 flu so | flying | fogbound | fogbound , | for fogbound | friend | golf | got promoted | greenhouse , | haare
-45 hause | hause , | have #amount | header | her hip | hilltop | hilltop shorted | hingeworfen | hubspot | i left
-45 i read | im the | immer erst | in hospital | in too | ingo | interview | ist weg | it as | it starts
-45 its quiet | just = | keinen azubi | key | keys to | kind $ | kirchenchor | kirkgate | kirkgate , | knie
-45 kowalke | kowalke nimmt | landlord put | last vue | late , | lights , | list | loose | lunch now | läuft
-45 mantra | me each | memoir | memoir , | middlemarch | middlemarch at | mir ne | month since | more of
-45 more rent | my site | new people | newsletter from | nochmal | not two | of selling | oh sure | ohne N | on him
-45 on kirkgate | or what | orla | orla had | ours stays | packing | pagers | pagers any | parents council
-45 passed her | pension day | pfeift | poor N | prius | prius got | remind | rent ! | robbery $ | sauer | saying
-45 school concert | seen | seit märz | seven ! | site last | skat | skat wird | smoking for | standup | still on
-45 sure , | tariq | than | the cat | the company | the elm | the golf | the lock | the memoir | the prius
-45 the stand | the tractor | them back | they got | they shifted | this week | this ≠ | through lunch | to do
-45 to go | town wrong | treasurer | um ≠ | until N | von ~ | vote | vue component | wants out | was it | wed
-45 week instead | werner | whos in | wie | with smoking | won #number | yara | yeah right | you | you know | yusuf
-45 ~ 已 | ≈ bett | ≈ off | ≈ s | ≠ wieder | 业 换 | 中 | 乐 上 | 乔 安 | 了 乔 | 人 , | 今 儿 | 低 | 保 转 | 修 好
-45 又 不 | 叫 陆 | 号 #phone | 各 #amount | 吗 $ | 听 说 | 在 管 | 均 | 坑 首 | 外 卖 | 将 | 小 武 | 尔 的 | 帮
-45 开 会 | 微 信 | 是 我 | 最 | 果 = | 楼 | 点 $ | 照 | 球 $ | 电 梯 | 管 账 | 胡 | 舍 搬 | 花 都 | 说 反 | 账 了
-45 账 的 | 起 步 | 这 ≡ | 透 | 重 算 | 野 | 钢 | 陆 | 隔 壁 | 首 尔 | 麻 将
-40 ! visa | #amount about | #amount 啦 | #amount 宽 | #amount 装 | #date | #date 交 | +absetzen | +alarms | +alto
-40 +amlodipine | +answering | +appointment | +asics | +aus | +backup | +balconys | +bands | +banging | +begin
-40 +blisters | +cleaner | +coal | +colleague | +different | +drawer | +emil | +februar | +fired | +forwarding
-40 +fragen | +ganz | +girl | +go | +going | +hammer | +header | +ihren | +im | +ingo | +jogged | +kurze | +laser
-40 +liked | +logo | +long | +lunch | +market | +meinem | +nur | +pagers | +pam | +paying | +photos | +pupils
-40 +remains | +server | +shaven | +shearer | +shift | +slated | +spalding | +spaß | +trainee | +trainer | +vertrag
-40 +violin | +wecker | +welt | +whats | +win | +windows | +wird | +workshop | +yusuf | +ziehen | +低 | +别 | +千
-40 +又 | +均 | +墨 | +天 | +娃 | +孙 | +庆 | +树 | +汇 | +谢 | , danke | , ging | , immer | , papyrus | , phew
-40 , server | , sprinter | , verkaufsleiter | , well | , what | , 奶 | , 工 | , 才 | = ein | = wie | = 没 | = 走
-40 N and | N aufgehört | N because | N cleans | N dont | N father | N handing | N lost | N notice | N schmeckt
-40 N switched | ^ aye | ^ bishops | ^ chem | ^ egencia | ^ forwarding | ^ ghents | ^ ich | ^ nephew | ^ paul
-40 ^ rieger | ^ yusuf | ^ 晚 | ^ 跳 | account has | also N | an N | and got | answering | as ever | at cards
-40 ate ≈ | ausm N | aws | back as | back payment | back ≡ | been merged | begin | behandlungsräume
-40 behandlungsräume $ | bei uns | beim | bishops | booked us | bought the | branch , | caravan | carer | chair at
-40 christ | cleans | cleans from | clock | coal these | colleague N | costs | course = | dabei | dave | dazu
-40 decided $ | der allianz | die leitung | doing #days | ee to | egencia | egencia contract | engineer | ersten ≠
-40 fantasy | feed , | forwarding | fragen | from ee | fürs = | garage , | gerade | ghents | going = | golf back
-40 good as | grange | grant | hated N | have moved | he had | home from | home got | home the | home to | home 开
-40 i rang | in laws | isnt ≡ | ist ab | it here | jenkins 那 | kiln on | kindly | kirchenchor bin | kleine
-40 late $ | leitung | leitung zurück | like butter | little = | logo | long , | longer | machine | make a | mates
-40 matinee | merged with | much $ | my fantasy | my garage | nach oliven | new vet | newsletters | newsletters N
-40 nice $ | nimmt mich | note to | nur spaß | off and | ohne e | old #amount | oliven , | opening ≠ | papyrus
-40 papyrus deinstalliert | password | paul | payment came | people | phone , | planning | please change | plumber
-40 po | po box | pond filled | properly at | pump | remains | remains our | renamed , | rieger | rieger will
-40 says $ | schlafzimmer | schlafzimmer , | second = | shes been | since april | sisters = | size | spaß ,
-40 sprinter in | stopped trying | tax | teamleiter | teamleiter , | tell them | the #date | the dairy | the grange
-40 the newsletters | the photos | the po | the pool | think | through my | time $ | time since | told me | too $
-40 trello | trying | trying , | tues same | und = | up coffee | us work | verkaufsleiter | verkaufsleiter doch
-40 vue | website of | whole group | wieder teamleiter | wont shut | work on | zu hause | ~ shut | ≠ 吧 | ≠ 太
-40 不 测 | 两 不 | 人 均 | 今 晚 | 价 降 | 公 公 | 别 的 | 十 个 | 去 血 | 友 | 台 N | 台 下 | 吃 上 | 吧 $
-40 咯 周 | 在 ≈ | 在 教 | 均 也 | 大 | 天 不 | 奶 喝 | 就 剩 | 岗 ≠ | 弟 今 | 快 递 | 您 , | 挤 ≈ | 文 | 末 闲
-40 没 纸 | 生 分 | 用 您 | 的 | 的 不 | 的 妹 | 眼 涨 | 租 不 | 站 | 算 把 | 纸 | 线 了 | 给 家 | 老 胡 | 草 莓
-40 莓 | 血 透 | 觉 , | 课 挪 | 负 #amount | 贵 ≈ | 赶 | 起 吃 | 跑 到 | 路 口 | 这 | 透 , | 道 | 钉 | 闹 钟
-40 险 今 | 面 | 馆
-35 ! ravi | # of | #amount discount | #amount warm | #time #daypart | +alle | +amused | +bed | +bikes | +boss
-35 +braces | +broken | +christ | +cream | +cried | +dhl | +dinner | +earns | +einundzwanzig | +full | +fun
-35 +gdansk | +gearbox | +gesucht | +getauscht | +grant | +helping | +here | +hours | +interview | +jeden | +judo
-35 +jungen | +kangoo | +kirchenchor | +kowalke | +lang | +lastpass | +lauf | +limits | +list | +loose | +macht
-35 +mitnehmen | +nen | +next | +nine | +party | +planning | +plant | +plants | +po | +point | +pond | +returns
-35 +samstagsdienst | +skipped | +slugs | +telecaster | +theyre | +umzug | +verkaufsleiter | +well | +when | +xx
-35 +yoga | +zieht | +刷 | +夜 | +尾 | +持 | +数 | +步 | +沈 | +租 | +评 | +财 | +费 | +辆 | +频 | , #daypart
-35 , cheese | , christmas | , data | , november | , 钉 | = bei | = changed | = friend | = right | = until | = vier
-35 = welt | = 师 | = 照 | = 给 | N after | N beziehe | N g | N hamster | N hat | N quit | N time | ^ board | ^ dry
-35 ^ foxglove | ^ nells | ^ piano | ^ tariq | ^ toners | ^ 乐 | ^ 海 | ^ 菜 | a hotel | a table | aber | after ≈
-35 all over | amused | amused $ | answer | aylin zu | bands name | barista since | be fun | bed | bed ≈ | been put
-35 biscuits $ | bitte N | brother don | by | canary | canary , | cant come | caravan at | carer carries
-35 carpets out | chemo yesterday | choir rehearses | coaching | coffee altogether | cook | cream | data engineer
-35 dem schlafzimmer | dem umzug | deploys | deploys after | dropped the | dry jan | eine | enough since
-35 erledigt $ | ersten N | evening N | exaggerated | exaggerated and | extra = | fennel with | field | fisch
-35 flat ≡ | fourth jab | foxglove | frankfurt | front $ | fun | fun $ | für den | für die | gesucht | good
-35 got flu | hat mit | hat seit | her first | her the | house at | i hand | i havent | i ran | i swear | ice cream
-35 ich da | ich durch | ill | in c | instead $ | is full | it or | its mot | jab | jab done | job alerts | keine N
-35 kept | köln | last canary | last ≡ | let us | limits | list $ | lock up | lohn | me $ | mehr N | mehr seit
-35 mental | mich mies | mies | mies $ | mitm tischtennis | money , | moon | mot | mother | my bees | my evening
-35 my parking | my tax | my telecaster | nells | new boyfriend | new price | night feed | nights are | no planning
-35 not barista | office lease | once more | papers lol | parking spot | placement is | plant | pool | pricey
-35 puregym | put a | ravi | ravi fainted | returns | returns with | roast | roasted fennel | rote | sagt er
-35 scrapped #days | send a | sent speedline | sich den | skipped | slugs | so lang | soft | speedline
-35 speedline packing | spot , | sprouts | st N | staging = | stand | started , | swear | take out | talk to
-35 tax returns | telecaster | telecaster to | that exaggerated | the bands | the caravan | the carer | the carpets
-35 the tongue | think about | this N | tickets | time now | tischtennis | tischtennis , | to N | to front | toners
-35 toners from | tongue | tongue bar | umzug , | und hat | week $ | welt $ | with us | wolle = | yara so
-35 yes please | you wrong | yusuf hat | ~ = | ≈ garantie | ≠ 二 | 不 跟 | 业 批 | 个 = | 书 | 光 , | 叔 | 告
-35 周 的 | 婆 回 | 婚 礼 | 对 的 | 年 调 | 报 | 指 挥 | 挥 | 新 的 | 注 销 | 满 #amount | 用 , | 用 啦 | 票 酒
-35 老 公 | 老 周 | 英 | 许 | 走 得 | 跟 我 | 递 | 醒 | 钉 停 | 钉 钉 | 项 目
-30 ! $ | ! and | #amount been | #amount left | #amount mit | #amount 全 | #amount 店 | #days since | #titled is
-30 +abgemeldet | +adé | +aylin | +bishops | +butter | +checking | +crunch | +danke | +dave | +deploys
-30 +facilities | +feels | +fish | +foxglove | +getting | +het | +idea | +leads | +lottery | +matinee
-30 +newsletters | +nimmer | +nowack | +oat | +peace | +renting | +schlafzimmer | +sitze | +sleeping | +start
-30 +tariq | +thick | +tickets | +tongue | +wards | +weighs | +what | +word | +另 | +品 | +嗓 | +室 | +敞 | +糯
-30 +血 | +长 | , cake | , how | , masters | , one | , saltmarsh | , therell | , two | = lunch | = nowack | = one
-30 = school | = though | = too | = 带 | = 离 | N = | N any | N didnt | N fox | N haben | ^ choirs | ^ finished
-30 ^ harrow | ^ ingrid | ^ ludos | ^ nights | ^ 乔 | ^ 老 | ^ 送 | a lesson | aber = | alle ≈ | amlodipine because
-30 and had | are up | as it | asked for | aye , | backup kicks | beers | bekommen ! | bishops moved | boiler
-30 brief $ | bullet | change | checking | choirs | cleaning | coat | come | council | darts | darts , | day ≈
-30 did not | die hebebühne | die rote | died and | eating baguette | frankfurt , | free $ | futsal | fährt
-30 gave terrys | gesagt $ | ghents closing | give me | gym | gym no | gyms full | harrow | harrow talked | hat bei
-30 hebebühne | hebebühne hab | hell | hen | hen left | hens , | hes not | holiday | home all | i kept | i liked
-30 i might | i started | ingrid | ingrid can | is moving | isnt on | its office | jetzt erst | labels , | lady at
-30 laser for | leave sprouts | lottery | ludos | ludos moved | läuft weiter | manuscript | manuscript , | masters
-30 masters is | me until | mums finally | my N | needs a | nen | nephew found | no laser | now also | now without
-30 nowack | nowack von | office to | ok backup | only $ | over it | paid uncle | passports | passports in
-30 pay the | phew | phew $ | podcast person | rote N | run from | s $ | saltmarsh | saltmarsh is | single hen
-30 sisters | small | sofort #amount | sprouts out | stamp collection | stays as | suit $ | taught | the darts
-30 the hill | the lottery | the manuscript | the moon | the passports | the site | the suit | there $ | therell
-30 therell be | two of | uncle off | und endet | up #daypart | verlängert und | want them | we get | weighs | when
-30 whole stamp | windows $ | wk | work = | wurde verlängert | you had | ≠ 出 | ≡ went | ≡ 五 | 个 安 | 乌 了
-30 乐 刻 | 乔 乔 | 乔 妈 | 今 天 | 从 广 | 公 | 刻 | 刻 跑 | 千 五 | 卓 | 卓 屏 | 去 $ | 后 过 | 品 改 | 安 ,
-30 安 卓 | 定 期 | 念 念 | 成 = | 改 的 | 是 女 | 有 人 | 期 昨 | 气 | 烦 $ | 狗 | 班 改 | 用 | 电 | 的 饰 | 笔 定
-30 订 | 走 义 | 踢 | 过 年 | 雨 | 饰 | 饰 品
-25 #amount seit | #amount start | #date it | #titled 回 | +ask | +bossing | +bowed | +cargo | +closet | +coat
-25 +cofounder | +coral | +gläser | +hergegeben | +horrible | +ja | +lass | +läuft | +masters | +oh | +quiet
-25 +sleeps | +stadt | +tenth | +uke | +umgeschult | +year | +äh | +南 | +因 | +背 | +英 | , want | , who | , 一
-25 = ihren | = office | >16 | N coaching | N gekündigt | N go | N is | N oven | N rd | N we | ^ neighbours
-25 ^ partys | ^ pohlmann | ^ rex | ^ teds | ^ 今 | ^ 电 | ^ 西 | ab drei | along | always = | and you
-25 bank closed | bar | batch | beim jugendclub | better $ | bye free | car , | cards | changed its | coaching me
-25 down once | drei $ | e bike | essen | free #days | from a | für | got #titled | ground | hat meine | he =
-25 i pulled | ich fahre | ich schon | it this | it ≠ | jugendclub | jugendclub , | jutta | jutta but | long
-25 moved dads | my coat | my fortnight | my mates | my work | myself from | new rota | now #amount | oder $
-25 often , | our steel | oven $ | over $ | papa | partys off | podcast | pohlmann | pohlmann kriegt | remind me
-25 report | rex | rex had | right ? | room so | rota my | sent | shall | shop of | so ne | stays $
-25 steel supplier | still jutta | supplier since | switched over | tariq completed | teds | teds retired | um =
-25 vorm | voted and | wagen | wagen haben | ~ # | ≈ 期 | 专 业 | 五 百 | 亩 刨 | 从 老 | 到 #time | 加 | 十 亩
-25 各 ≠ | 地 被 | 多 | 头 十 | 年 | 房 贷 | 水 $ | 海 | 百 八 | 票 价 | 背 | 胡 那 | 菜 地 | 行 | 转 专 | 达 | 钟
-25 错 ≈
-20 ! third | #amount 二 | +always | +american | +apixaban | +au | +aufbleiben | +backe | +batch | +cannery | +cant
-20 +dug | +gran | +homeopathy | +keinen | +o | +rides | +run | +time | +volksbankkonto | +were | +will | +zwölften
-20 +代 | +每 | , homeopathy | , 学 | = painted | = today | = ≡ | N new | N sprang | N these | N vertrag | ^ zeit
-20 ^ 大 | and wont | backup | bin so | buried , | called , | cotham wont | for #amount | goodbye pantry | got
-20 grad den | hat gewechselt | her $ | heut | homeopathy | homeopathy is | hospital , | into #number | its me
-20 like that | lunch | make | my sisters | nicht N | nope , | off on | old N | over this | pantry | pantry ,
-20 ramipril auf | she has | shop | sie die | so cotham | spring , | theyve changed | way $ | zeit abbestellt | 亩
-20 到 实 | 叫 | 在 通 | 堂 | 州 $ | 店 昨 | 慢 | 末 从 | 漏 水 | 电 动 | 目 | 阿
-15 #daypart 才 | #number a | #number from | +brother | +bunk | +eingestellt | +ich | +nimmt | +oben | +rot
-15 +savings | +warden | +wi | +yeah | +乌 | +四 | +塞 | +小 | +果 | +然 | +爸 | +社 | +胡 | +面 | , can | , ist
-15 = 送 | ^ arties | ^ robbo | all my | all through | along $ | arties | arties my | down in | eltern wissen
-15 froh | havent | in with | it a | it down | lives with | machine , | meine eltern | off until | rides | robbo
-15 robbo coughed | so froh | thanks | the town | up and | up my | very clear | word | 不 错 | 候 | 完 了 | 店
-15 来 的 | 缸 | 英 语 | 试 | 谢 | 高 二
-10 #amount 了 | +bus | +clinic | +each | +fine | +hiring | +rather | +对 | +平 | +雷 | N as | N by | N noch
-10 hiring | it i | jez #amount | kein N | meine | pitch , | puregym , | this one | weniger | were N | wirt
-10 zimmer | übrigens | 动 $ | 子 归 | 床 | 慢 , | 房 子 | 生 说 | 转 给
-5 #amount hr | +buried | +emigrated | +folk | +id | +mad | +mindestens | +鲜 | , free | , he | , 正 | N fährt
-5 N wasnt | born | brandschutzmensch | dem ersten | go to | mate , | now ! | number ≠ | on both | refunded
-5 since easter | took it | yet | you have | 写 成 | 制 | 弃 | 步 | 通 州
5 +fridge | +get | +ma | +戴 | , damp | , moved | N wrong | and is | been on | brought forward | bumped us
5 came back | comes from | der ist | door $ | hob | i did | mattress | shes not | taken over | the party | tüv
5 vom N | ≠ not | 也 跟 | 乳 | 了 四 | 安 | 挪 | 盘 出 | 粉
10 ! #amount | +hob | +piece | +release | +school | +疼 | , seit | , which | , 脱 | = 原 | = 已 | ^ he | ^ 新
10 altogether , | bank holiday | bitte | both of | cant | changed | charge | comes on | flat in | images
10 images stay | is dead | jetzt dauerhaft | lassen und | only a | op | rota $ | salsa | sell | squeezed
10 the account | the images | the wedding | to ≈ | together #amount | unverändert | went in | went with | zur N
10 ≡ any | 后 都 | 大 的 | 拍 | 挤 #amount | 片 | 的 是 | 结 | 解
15 #date die | +court | +doch | +fam | +give | +ground | +line | +same | +sofort | +stiff | +tape | +跟 | , though
15 = kit | N back | ^ bin | ^ boards | ab #date | again ! | altogether | an e | and gone | anymore $ | back on
15 being too | belly up | boards from | days so | den #number | doctors | dont need | flew | funeral in | got the
15 hand $ | hand , | handball | handed | home 到 | is da | keys handed | lot | meant N | mit = | nimmt ab
15 on apixaban | own place | passed = | perfect = | post | resigned | retired , | shares | tante | the bath
15 the branch | the chair | the cold | the fifteenth | thin and | too late | tues , | use | vape | wach $
15 walk to | weder N | wee funeral | ≈ to | 下 , | 人 生 | 减 | 利 索 | 厂 | 在 ≠ | 姓 | 弃 了 | 报 了 | 月 起
15 生 | 老 板 | 能 喝 | 脚 | 西 安 | 调 到 | 轮 椅 | 配
20 +back | +beach | +den | +discharged | +good | +handball | +holding | +know | +pixel | +plug | +slid | +used
20 +wagon | +wee | +wirt | +writing | +万 | +她 | , doctors | , done | , ein | , explorers | , for | , got
20 = goes | = signed | ^ chucked | ^ first | ^ migration | ^ nur | a big | a grey | a huff | about a
20 account closed | aldi like | all | and my | and nobody | been in | caught | changed to | chapel , | checked
20 explorers | explorers as | fixed at | grey N | growing | home everything | home 跟 | huff | huff and
20 i switched | in til | ive got | lease ran | main | makes | mehr $ | nimm | plug | resigned in | retired
20 runs $ | sat on | seepferdchen | sich auf | sleep on | something of | the building | the ground | the wagon
20 too short | tues | um | verkauft und | wagon | weds | with | working from | xmas , | year is | ~ as | ≠ at
20 ≠ every | 不 放 | 受 | 四 | 在 #amount | 天 正 | 姓 章 | 求 | 用 接 | 的 ≈ | 眼 睛 | 睛 | 缩 | 过 的 | 饭 都
25 ! lovely | #titled wants | +autumn | +coach | +firsts | +girlfriend | +goes | +he | +heating | +look
25 +otherwise | +pnpm | +prep | +sod | +verschoben | +voted | +wollen | +zwei | +冻 | +器 | +太 | +敏 | +望 | +毕
25 +电 | +结 | +缩 | +舅 | +邱 | +鹿 | , auf | , bin | , cuts | , gestern | , single | , unpacking | , we | , 推
25 = ! | = because | = split | = we | N come | N dentist | N from | ^ hes | ^ hundred | ^ lost | ^ tagged | ^ 换
25 a mattress | a slipped | a week | abgesetzt , | ach | ago ! | alle = | and were | away | clear | d $ | day ,
25 early , | erledigt | fees | first #amount | flew home | found | früher | funding | funeral | girls | green ,
25 hab den | hands | has become | his mum | hot | hundred on | i pay | i stopped | in a | is #time | j | jetzt der
25 keep writing | keine | label is | laden ist | lieber | married | move , | need , | no going | oats | on me
25 ouch $ | publisher | refused , | register | retainer | same depot | schedule | schwester $ | sea | she gave
25 six | skip | sleeping on | sooner $ | spelt | still N | still here | swapped | switched from | tagged
25 the chapel | the course | the move | the other | the post | they knocked | to , | today baby | umbau | uni
25 unpacking | unpacking as | unverändert $ | voice | wall out | we changed | window now | writing un | you ,
25 zwanzig | ~ 吧 | ≈ sticks | 五 , | 先 给 | 去 西 | 司 | 家 了 | 带 娃 | 归 | 彻 | 彻 底 | 我 姓 | 房 , | 旁 那
25 期 中 | 爸 妈 | 票 也 | 调 | 还 给
30 #amount last | #date 搬 | #time from | #titled 部 | +air | +bahn | +broke | +brought | +btw | +class | +flew
30 +gehen | +gekippt | +gleich | +handing | +lot | +mornings | +name | +nee | +neg | +pc | +permit | +spelt
30 +theyve | +tip | +traded | +wahl | +wohnung | +丫 | +位 | +何 | +刚 | +够 | +盯 | +靠 | , N | , a | , handy
30 , hers | , his | , kein | , staying | , they | , working | , 他 | , 徒 | , 改 | , 甲 | = being | = failed
30 = finished | = for | = on | = there | = 关 | N , | N a | N gehört | N kann | ^ could | ^ den | ^ gave | ^ hab
30 ^ machs | ^ 陪 | all ~ | already $ | and work | baby | but ≈ | cage | chef | climb | cross about | de | doctor
30 effect | er | everybody | fete | finish at | first #days | first , | foot $ | for everything | for my | gets
30 girl , | god rest | got a | green | guy went | hab nur | hall | handed the | handy | home 边 | hospital in
30 husband and | i like | in her | ist verkauft | jetzt , | k | kid | kinder | legal | lost ≈ | machs
30 machs bitte | morning and | ner N | neuer = | nix | nope gave | normal again | now go | nursery | of the | on ,
30 only since | passed | point , | potatoes $ | quite cross | ran out | range | same , | same name | schicht
30 seit die | shes doing | that night | the #amount | the bus | the garage | the h | the plug | these days
30 they come | thin | to drop | to have | too many | too thin | und ≡ | unheard | verlegt , | weds $ | were
30 wie gehabt | wife | will laugh | winter $ | year | ~ when | ≈ 八 | ≠ and | ≡ 要 | 一 交 | 一 的 | 个 坏 | 也 还
30 了 $ | 了 学 | 从 今 | 价 没 | 位 没 | 分 成 | 变 成 | 司 #date | 喽 $ | 头 | 子 升 | 字 | 就 | 差 , | 年 纪
30 弟 没 | 我 戒 | 戴 内 | 才 这 | 抱 | 时 间 | 是 = | 是 小 | 晚 已 | 机 号 | 机 器 | 现 在 | 班 归 | 甲 班
30 白 的 | 百 了 | 盯 | 砍 | 碰 | 给 | 老 戴 | 肩 | 诊 所 | 话 来 | 跟 着
35 ! ≡ | #amount in | #date at | #titled 说 | +, | +arbeiten | +attack | +axed | +blazer | +board | +building
35 +caught | +cut | +docs | +driving | +fainted | +forgetting | +forgotten | +geh | +got | +handed | +pulling
35 +rent | +rests | +saddle | +shoved | +sits | +south | +split | +successor | +tante | +ten | +unpacking
35 +weggeworfen | +上 | +全 | +印 | +吐 | +员 | +苏 | +蛋 | , been | , cage | , cleared | , home | , sod | , sold
35 , surgeons | , too | , zweihundertfünfzig | , 孩 | , 尾 | , 日 | , 翻 | = date | = gls | = heißt | = these
35 = 丢 | = 五 | = 前 | = 日 | N aufs | N better | N danke | N moved | N tonight | N who | ^ bio | ^ compiles
35 ^ nobody | ^ renamed | ^ rudi | ^ sefton | ^ turns | ^ um | ^ 修 | ^ 诊 | ^ 首 | a = | a burst | a ≠
35 account $ | actually $ | added | alright | am back | at christmas | attack | auf den | aus , | back , | bad
35 be , | beautiful | bed , | been | been selling | better | bones | bus went | cage is | came and | can lie
35 change = | changes over | clean | commute | compiles | compiles in | curate | d | damp | den ≈ | dentist ,
35 die ~ | dort | effect in | eigenen bude | er jetzt | ever since | every morning | fifteenth | first ≡ | flood
35 forward to | früh = | gabs | geblieben $ | gehört jetzt | geklatscht | geklatscht $ | gekündigt , | gewechselt
35 gibt | go , | goes | gumtree $ | halb sieben | has my | has stopped | he got | he made | heart attack
35 hochgesetzt , | hochzeit | home tues | home weve | home 妈 | immer ≠ | it has | it in | jetzt N | jetzt meine
35 july | kein | kind , | knees | know what | kunden | lad in | lates til | leave so | live | lungs | mistake ,
35 mit seinen | money | month now | mussten | my soul | my week | net | net $ | new hip | no idea | no point
35 nobody could | now and | nudeln | of our | of ~ | off to | offs | ok so | old bus | on gumtree | over | over on
35 pam | personalmangel | personalmangel , | please , | put ≠ | reckons $ | reorganisation | rest of | rudi
35 scanner | school now | sefton | sefton put | selling like | she reckons | shop = | sie schreibt | since the
35 since we | single , | soul to | started | stays , | sugar is | table , | take effect | the council
35 the meeting | the normal | the photo | the piano | the publisher | the reorganisation | the till | the toddlers
35 the travel | the van | the vote | the whole | the window | there | theyve | this season | til further | to work
35 toddlers , | uns | vs | want me | washing | way #amount | week the | went to | were at | which makes
35 wieder ganz | with a | wohne | wohne jetzt | work , | working | zweihundertfünfzig | zweihundertfünfzig $
35 ≈ out | ≈ 的 | ≠ already | ≠ because | ≡ to | 了 ≠ | 五 分 | 从 这 | 们 在 | 做 | 凉 | 分 , | 十 了 | 千
35 单 人 | 卡 也 | 厂 里 | 去 婆 | 又 喝 | 又 转 | 周 起 | 响 $ | 在 ≡ | 婆 家 | 字 旁 | 师 说 | 年 开 | 徐
35 得 早 | 我 弟 | 我 那 | 才 对 | 批 , | 接 回 | 推 光 | 散 | 断 | 明 不 | 期 | 欣 | 清 | 班 $ | 班 了 | 电 脑
35 的 才 | 社 保 | 话 了 | 说 #titled | 请 了 | 跃 | 跑 了 | 还 = | 都 去
40 ! pregnant | ! start | ! ≈ | # , | #amount clock | #amount crashing | #amount kommt | #date haha | #days ,
40 #days 那 | +besser | +bless | +brauchst | +cats | +chap | +checked | +club | +curate | +dazubekommen
40 +delivery | +derselbe | +dort | +drove | +everybody | +farm | +fees | +finish | +front | +gls | +growth | +habe
40 +losing | +ner | +nurse | +one | +out | +part | +passing | +plenty | +preis | +pro | +renewal | +resigned
40 +rudi | +sends | +shut | +slot | +spotify | +tausend | +teuer | +that | +toddlers | +verein | +worse | +wren
40 +yellow | +响 | +国 | +场 | +清 | +袋 | +调 | +顶 | +马 | , alas | , bei | , bought | , brought | , curate
40 , cut | , did | , growth | , haben | , handed | , rain | , since | , von | , 以 | , 鞋 | = # | = an | = cannot
40 = e | = gets | = leaves | = quit | = schreibt | = 室 | N drives | N got | N ihr | N says | N wohne
40 N übergeben | ^ coach | ^ mit | ^ prima | ^ skip | ^ three | ^ told | ^ yea | ^ 店 | a balcony | a car | a y
40 a young | acht | acht $ | agm and | alas | alas , | all hers | an einen | and payouts | and ≈ | anyone $
40 are allergic | arial | as when | b , | balcony ? | before $ | bei den | black at | bleibt | bless her | booked
40 branch shut | bruder , | burst | bus on | call changes | card , | church hall | coming | commute was
40 county hospital | curate as | da | deleted the | der wirt | dfs | did for | die hat | died | died on | drin ,
40 dritte N | eleven | er steht | f , | fahre kein | fainted $ | fete brought | finally | first | garage rang
40 garten | geblieben | geschmissen , | get #days | god | goes out | gone , | goodness | goodness , | growth
40 handed back | has shifted | heim , | helping | her at | him $ | him , | hips wont | his dad | home
40 home council | home floor | home here | home swapped | home 旁 | home 校 | home 读 | home 走 | house
40 i muddled | ihn | in , | is unchanged | isch | it go | its on | itself , | keyboards | keys for | kill | lamb $
40 let it | lights same | lol , | lowered | magen | measured | migraines | migraines , | months $ | muddled
40 my dinner | my hand | my hips | my migraines | neednt | nein | never | new #number | nie wieder | no thats
40 nobody | noch dabei | normal = | old | open air | org | out , | pal , | paper , | passport | payouts
40 payouts switched | permanently | permanently , | pets | photo | pilates | place $ | please put | pregnant !
40 prima | prima , | profit $ | quicker | r | raus , | renamed to | right the | robbers | roof $ | run $ | sagt
40 same value | sawed | sawed it | season , | seating | sends | shut N | sign writers | son | spanisch | starts
40 street is | surgeons | sweating | switched off | takes #number | tea lights | text = | thank goodness
40 thank the | the beach | the bell | the cats | the commute | the driver | the keys | the kitchen | the letter
40 the on | the profit | the seating | the weekly | they said | they sawed | thing , | to sell | to weds
40 und fahre | up , | us | von #amount | waren die | was $ | was eating | was renamed | was wrong | we can
40 we eat | we migrated | website $ | went back | where it | who isnt | wir auch | yea | zu viel | zurück nach
40 ≈ , | ≈ since | ≈ ~ | ≈ 那 | ≠ 交 | ≡ | ≡ 那 | 一 = | 一 口 | 上 #days | 上 了 | 下 去 | 不 跑 | 两 个 | 个 $
40 丫 | 乐 天 | 买 = | 人 | 人 碰 | 刚 | 别 | 医 院 | 又 长 | 口 气 | 号 | 司 不 | 后 ≠ | 回 | 多 睡 | 天 也
40 天 拜 | 女 士 | 婆 依 | 子 | 室 也 | 成 | 把 = | 投 诉 | 改 回 | 新 | 新 开 | 机 上 | 板 | 没 它 | 泳 | 泳 ,
40 游 泳 | 用 = | 留 着 | 皮 | 睡 会 | 老 师 | 肩 膀 | 膀 | 血 证 | 让 人 | 说 以 | 负 ≈ | 起 涨 | 过 | 那 个
40 那 天 | 闲
45 ! im | #amount and | #amount bett | #amount den | #amount today | #daypart 做 | #days #daypart | #number to
45 #titled agreed | #titled me | #titled 休 | #titled 现 | +abbestellt | +account | +altogether | +arial
45 +armbands | +bags | +bees | +border | +bríd | +canal | +cuts | +enough | +evening | +fehlt | +fete | +froze
45 +gehabt | +gibts | +hallelujah | +heim | +himself | +hol | +immer | +keep | +kunden | +last | +leer | +loaf
45 +lord | +measures | +mentioned | +menu | +muddled | +must | +nimm | +nothing | +nudeln | +nursing
45 +personalmangel | +pounds | +presents | +pulled | +quicker | +renew | +saves | +scanner | +season | +seating
45 +sefton | +so | +square | +steht | +stress | +taste | +thats | +too | +ward | +worden | +working | +劝 | +大
45 +孩 | +张 | +念 | +挪 | +禾 | +答 | +遍 | +防 | +饺 | , | , = | , actually | , always | , another | , as
45 , bye | , direkt | , early | , feels | , hab | , lowest | , pilates | , playing | , uns | = , | = been | = geht
45 = gibts | = year | = 今 | = 卡 | N at | N beim | N colour | N found | N geboren | N nicht | N sich | N side
45 N stopped | N voice | ^ eine | ^ his | ^ jenkins | ^ lass | ^ nimm | ^ pushed | ^ quiz | ^ rechne | ^ rights
45 ^ sat | ^ scanner | ^ with | ^ 延 | ^ 调 | ^ 路 | ^ 那 | a normal | abgesagt | abgesagt , | afternoon
45 again since | agm | ago | all of | als geplant | also ≈ | and then | arm like | ask = | at small | auch ≠
45 aufgegeben | beat him | been that | beer | being = | belly | between #amount | blind haha | board lowered
45 both gone | brother | building , | bumped it | by ≡ | call | can have | can ≈ | colour blind | day back
45 day brought | ddwrt | ddwrt , | delivery $ | den sängern | die hochzeit | discharged | drive | drums now | eat
45 empty , | extra hours | fish again | five | folks $ | four | four , | früher als | ganz normal | garage $
45 gate = | geboren | geboren , | genug | get = | git | got refused | gstorbn | gstorbn $ | guy called | heisst
45 him an | home out | home 屋 | home 无 | home 睡 | home 这 | hours get | i told | idea what | immediately
45 internet | iphone ≈ | is im | is right | ist | ist auf | its called | its ddwrt | its just | january
45 jetzt die | jetzt vier | jetzt von | job | kit is | kommt | landlady | last release | laws | leaves me
45 left #amount | left for | like everyone | like lead | lmaooo | lmaooo $ | lowered our | lowest | lowest is
45 man rang | man says | me | measures ≈ | mich wie | mine to | mistake | moved N | mum says | my mistake | my ≡
45 need ≈ | neun | new rules | nobody else | not , | number = | ok , | on with | organiser | own at | papers $
45 part this | piece | pilates i | pitch on | porridge | press | proper | qa now | quit , | quotes | reichen
45 reichen $ | reversed | rights | rights fell | rm ≈ | ruhig | run every | scan says | schule | see her | set of
45 shaped | she also | she minds | shifted to | shoulder | shut the | since his | site | small street | so were
45 somebody else | sommer gstorbn | started at | stay | steht jetzt | sticks $ | stolen | street every | swimmings
45 swimmings off | sängern | sängern noch | table | ten | that i | that way | the bank | the bees | the drive
45 the fete | the neighbour | the night | the train | thru | took him | transfer $ | tup | turned out
45 turned round | twelves | twenty | twenty , | under twelves | up by | van , | w N | wants = | wasnt = | week pls
45 whole | wir nicht | with #number | with qa | won , | would you | wurde | you write | ~ ist | ~ 换 | ändern
45 ≈ hated | ≈ hour | ≈ now | ≈ 只 | ≠ drauf | ≠ of | ≡ as | ≡ 退 | 一 万 | 一 排 | 不 得 | 两 百 | 了 家 | 了 推
45 产 | 产 假 | 从 粮 | 休 产 | 位 改 | 八 = | 别 提 | 剩 #days | 千 二 | 印 | 去 那 | 同 意 | 后 店 | 咯 | 喝 白
45 回 $ | 在 大 | 在 家 | 外 婆 | 套 | 奶 了 | 妈 上 | 始 = | 子 清 | 子 贵 | 它 | 年 = | 店 做 | 意 $ | 我 #date
45 我 又 | 我 变 | 我 留 | 扎 | 挪 去 | 掉 一 | 改 了 | 早 章 | 是 a | 本 咖 | 清 仓 | 看 | 礼 拜 | 秤 | 立 早
45 站 进 | 籍 | 粮 站 | 续 $ | 能 开 | 脑 | 脱 | 苦 | 诉 , | 这 轮 | 进 $ | 里 只 | 间 推 | 间 是
50 # = | # 休 | #amount from | #number verlängert | #time 给 | +after | +auditors | +backwards | +booked | +branch
50 +brauch | +dessen | +does | +fetched | +from | +gibt | +grumpy | +h | +ham | +hats | +invites | +j | +kid
50 +knows | +kost | +laugh | +lehre | +lie | +lifes | +linear | +machines | +measured | +mitm | +money | +moved
50 +mums | +needles | +nicked | +not | +nun | +off | +outgrown | +pickles | +podcast | +proper | +pub | +redo
50 +register | +registered | +samples | +shaped | +shares | +sub | +tae | +take | +tbh | +three | +timo | +tup
50 +updated | +veg | +verlassen | +whatever | +丑 | +仓 | +保 | +到 | +字 | +定 | +戏 | +拉 | +旁 | +是 | +更
50 +求 | +烂 | +版 | +狗 | +砍 | +输 | , also | , ashes | , einfach | , everyone | , grr | , just | , macht
50 , mehr | , mums | , sprit | , steht | , twins | , wrists | , ≠ | , 如 | = #time | = abgesetzt | = dead | = gibt
50 = going | = kept | = läuft | = now | = poultry | = starts | = verlegt | = 一 | = 他 | = 可 | = 是 | = 跳
50 N braucht | N fortnight | N lass | N no | N test | ^ ask | ^ fig | ^ fish | ^ git | ^ home | ^ kannst | ^ last
50 ^ playwright | ^ please | ^ somebody | ^ they | ^ theyre | ^ turn | ^ two | ^ we | ^ 乙 | ^ 从 | a great | a j
50 a note | a ~ | abgebrochen , | account of | again so | always has | always was | am #days | an s | and ive
50 anymore | anything | ashes | ashes same | asleep before | auf fünfundsiebzig | aufgegeben , | aufgemacht $
50 back at | backwards | bank went | bath went | bc of | been , | began | beiden | bin jetzt | bin nicht
50 booked the | books | both = | bothy , | boxes | boxes everywhere | buying | call me | came #days | caravan go
50 chucked | das dritte | dead $ | der op | der ≠ | dessen | die lehre | diesem N | down today | e | each =
50 earlies for | eat bread | einschläfern | einschläfern lassen | end of | endlich | entry | everywhere $
50 exactly what | extended | eyes , | fall asleep | falsch gesagt | feet | fig | fish are | folks | football $
50 fwd to | fünfundsiebzig | fünfundsiebzig setzen | g sold | gah | gateway | gave it | geht | gibts | gibts nicht
50 ging | gives | go ≠ | going home | grr | grr $ | ha , | hab da | had #amount | has taken | have had | her name
50 his bank | home #number | home with | home 好 | home 田 | hour , | i come | i fall | ich gekündigt | ich nix
50 ich nur | in #days | in all | in my | in spring | in tues | in zwei | insurance $ | is going | ist jetzt
50 it backwards | its a | its main | jetzt | jobs dont | joined N | json | just #amount | keep up | kleinen =
50 last night | late for | lehre geschmissen | lern | letzten ≡ | like mad | made us | malte haben | managers job
50 me in | minds | misread the | mit , | mittlerweile , | moneys | morning | my phone | need = | nei | neither ,
50 next $ | nobody at | not enough | not ours | november | nowadays | nun mit | nötig | oh wait | old ≈
50 on account | other time | our own | out over | palpitations | peaceful | photo $ | playing up | playwright
50 playwright for | quicker than | registry | room $ | s bahn | saddle | sag du | schloss | school #days
50 schreib mir | season and | setzen $ | ship | short | so ner | sparen | sprit | started big | stop , | storm
50 summer , | tae | that my | the books | the hat | the managers | the owl | the renewal | the scan | the sugar
50 third = | this tour | those | to be | to finish | topic | tore out | tv | two $ | two now | um #amount | und ≈
50 updated | updated $ | uv | verschiebt | vorgezogen , | vorne | waren | we got | we never | we no | we tore
50 week , | what next | white , | with football | young | zwei = | ~ died | ~ for | ß | ≈ | ≈ came | ≈ 二 | 七
50 七 个 | 上 月 | 乙 | 乙 厂 | 也 不 | 也 八 | 俩 | 值 # | 全 | 冻 死 | 切 一 | 半 = | 厂 裁 | 古 | 回 学 | 尾 数
50 我 改 | 接 | 搬 过 | 改 一 | 数 是 | 早 | 是 #titled | 林 妈 | 樣 | 樣 $ | 活 | 涨 的 | 现 | 的 还 | 续 先
50 腰 不 | 舅 舅 | 觉 $ | 让 ≡ | 证 | 说 没 | 起 $ | 退 | 那 吃 | 钱 了 | 面 新 | 饭 $ | 高 了
55 ! party | #amount doch | #amount t | #days und | +alright | +any | +april | +asbestos | +asked | +auf | +aufm
55 +bare | +bro | +cleared | +could | +cruise | +ddwrt | +december | +direkt | +ditched | +drink | +dull | +eight
55 +feb | +fünfundsiebzig | +gabs | +gateway | +geblieben | +geworden | +heron | +hot | +jenkins | +k | +kill
55 +laws | +legal | +lighter | +lives | +migrated | +missing | +nacht | +nope | +nowt | +october | +papier
55 +places | +pleased | +posters | +reichen | +retired | +seeing | +sold | +squeezed | +started | +stehts
55 +teilzeit | +touched | +umgestellt | +upped | +uv | +vermieter | +watch | +we | +zwanzig | +免 | +升 | +思
55 +普 | +由 | +省 | +肾 | +营 | +被 | , , | , judge | , proper | , pulled | , sind | , vorgezogen | , 从 | , 办
55 , 挪 | , 走 | , 这 | = car | = emigrated | = ffm | = froze | = wedding | = works | = 和 | = 坐 | = 排 | = 撤
55 = 毕 | = 订 | N call | N changed | N first | N gezogen | N kost | N nehmen | N this | ^ gone | ^ jodies
55 ^ leave | ^ na | ^ nein | ^ nicked | ^ nö | ^ physio | ^ retired | ^ seit | ^ well | ^ zwei | ^ 两 | a firm
55 achtzehn | achtzig | all the | alone | already | and asks | and its | animal | apixaban | are no | are only
55 as N | at last | ausgetreten , | be late | because ≡ | begged | beim = | bike = | boss is | both | bought
55 bought my | btw $ | by hand | c , | called off | cash | caved | clinic moved | come round | couple = | courts
55 cut = | dann sein | dauerhaft | delayed | delayed until | der = | do = | doch | dont do | drei jahre | driver
55 eigene = | erste | even a | every | everybody $ | extension | extension came | fertig mit | for #days
55 for #number | forget | from sept | früh | full set | further | gave you | geh | german | gestern erste
55 geworden | gezogen $ | go | gp | grandmother | habe die | head has | heizung | her off | hochzeit ziehen
55 home flat | home of | home 個 | hospital at | hour ago | hourly | in october | insurance , | is # | is enough
55 is mine | isnt = | ist gestern | ist wieder | it for | jacked in | jetzt $ | jodies | judge | july , | keine =
55 kommt dann | kommt nicht | kost mein | last session | laugh | lets | lights $ | little | lost her | made
55 monthly from | my landlord | nah N | name and | ne , | never rang | nicked | night retainer | no #amount
55 not after | notice and | nun der | nurse | nö | nö , | off just | off today | onwards | over = | own #amount
55 pal | party was | placement | plug on | qa | rechne = | rein = | rent on | reset | retainer now | rowing
55 schreibt sich | seit drei | several | she moved | sheet for | shifted | shop in | short , | shoulder ,
55 since i | sind | so well | sooner | starting today | stay $ | steht seit | stop | strom | swapped the | t
55 take her | taking | that cat | the airline | the bungalow | the full | the girls | the home | the music
55 the sea | the under | there is | they changed | till next | tip , | two since | uni now | up $ | use that
55 verschiebt sich | viel | wants ≈ | wardrobe , | was delayed | was right | way better | we cant | we do
55 were square | who , | wieder = | wife won | with ≡ | work for | year #number | yep , | youtube | zurück ,
55 ~ has | ~ no | übernommen $ | ≈ not | ≈ starting | ≈ then | ≈ went | ≈ without | ≠ offen | ≠ pls | ≠ they
55 ≠ 十 | ≡ instead | ≡ ist | ≡ 出 | 三 , | 也 回 | 五 = | 从 = | 以 后 | 供 = | 儿 媳 | 八 十 | 出 | 别 辣
55 到 望 | 医 生 | 十 五 | 又 看 | 咯 , | 四 十 | 图 的 | 太 太 | 套 今 | 女 | 女 的 | 妇 生 | 害 | 就 想 | 岔
55 已 经 | 师 们 | 开 = | 弟 那 | 快 #amount | 手 $ | 手 机 | 提 = | 提 到 | 搬 = | 搬 厂 | 旺 财 | 月 ≠ | 没 了
55 的 停 | 答 辩 | 签 到 | 管 了 | 舍 了 | 花 的 | 订 单 | 辣 的 | 辩 | 通 了 | 遍 了 | 那 儿 | 里 宿 | 错 #amount
55 闻 到 | 验
60 #amount day | #amount telly | #amount this | #daypart , | #days there | #days verlassen | #days would | +N
60 +animal | +aufgegeben | +baths | +bleibts | +both | +bäcker | +company | +daft | +dreh | +eggs | +else | +em
60 +erledigt | +fifteenth | +foundation | +game | +heart | +hit | +hurry | +insurers | +jacked | +künftig | +mart
60 +neuerdings | +ostern | +owner | +pay | +pregnant | +price | +pushed | +replaced | +reset | +retainer | +rooms
60 +sabbatical | +sale | +sharks | +shell | +stolen | +surgeon | +third | +tot | +trees | +verschimmelt | +viertel
60 +wach | +washing | +web | +weds | +winter | +you | +zurück | +zurückgetreten | +以 | +凯 | +刘 | +各 | +掉
60 +掰 | +棚 | +糖 | +统 | , #amount | , #titled | , moneys | , nans | , und | , weds | , went | , wir | , zu
60 , 换 | , 老 | = abgegeben | = btw | = call | = days | = fixed | = food | = full | = kriegt | = moved | = packed
60 = passed | = selber | = slid | = to | = 下 | = 以 | N came | N house | N mistake | N next | N replaced | N them
60 ^ ach | ^ beides | ^ bring | ^ fell | ^ guess | ^ make | ^ sorry | ^ up | ^ ≠ | ^ 又 | about lunch | ace
60 actually | after , | again on | age , | alternate | and his | asking $ | au | aufs | banned | bass now | beats
60 begraben , | believe , | beside N | bikes | book by | books now | bowl | brain | brauchts | bring it | broke up
60 by #time | by the | came today | cancelled that | come = | come in | coming $ | confession | damp was | das zu
60 day #amount | deputy | desk | digga | digga $ | do it | dort N | each N | easter | eighteenth | eighteenth ,
60 eins $ | erledigt , | ever again | every day | every evening | everything from | finger | finish | first time
60 folded | folded , | follow | for him | ganze N | gave my | gehabt $ | geht , | gewechselt $ | got ≠ | gravel
60 handed in | has her | hat grad | havent touched | her birthday | her mind | home love | home 来 | home 近
60 home 返 | hühner | i see | i was | immer | it first | its #phone | itself | judo , | just the | letter came
60 little fellow | live $ | lunch money | make that | mateos | meetings | mind | mind again | mint | monat
60 money #number | moved up | my niece | my own | nach | nans dancing | needs the | new address | new line
60 nicht nötig | nicht verlängert | nichts | nimmer , | no $ | no rent | noch einmal | not need | not taking
60 nothing on | of july | of today | office of | on that | packed up | please use | pool , | pulled out | put =
60 raised it | rebuilt | rebuilt it | reeds | registry office | ring back | says no | schlaf | schon ≈ | schreibt
60 sein N | seit #number | sie immer | so seven | so thats | so there | sold = | sold ≈ | still #days | stopped =
60 surgeon | teeth | the topic | the winter | theyre both | things $ | time this | tobi | tonight ? | took
60 trailers | transferred | turned | und #amount | unser = | up #number | usual from | verkürzt | verkürzt ,
60 verlängert , | village hall | wages | wages go | war der | we split | where she | wire | wohnung in
60 wrists are | ~ me | ~ ≈ | ≈ born | ≈ have | ≈ if | ≠ bc | ≠ class | ≠ 啦 | ≠ 四 | ≡ of | 一 个 | 一 身 | 七 千
60 个 月 | 了 | 事 了 | 交 $ | 俩 = | 倒 | 刚 来 | 功 , | 十 二 | 去 古 | 去 走 | 发 电 | 变 | 古 籍 | 员 | 啦 ,
60 在 用 | 在 能 | 大 了 | 头 = | 妈 = | 子 版 | 家 关 | 家 长 | 对 面 | 开 ≈ | 成 八 | 成 每 | 我 #amount | 才 回
60 找 #titled | 投 | 换 = | 接 了 | 掰 | 掰 了 | 改 看 | 散 了 | 昨 | 气 上 | 流 量 | 涨 , | 疗 程 | 的 小 | 砍 到
60 第 ≠ | 签 | 粉 了 | 给 同 | 编 辑 | 老 听 | 让 | 贫 | 贫 血 | 跑 = | 身 轻 | 转 = | 转 去 | 辑 | 部 了 | 都 $
60 里 就 | 错 了 | 鹿 $
65 #amount an | +adjourned | +become | +captain | +caved | +chickenpox | +correction | +eighteenth | +endlich
65 +fair | +falsch | +fella | +flood | +gah | +giffgaff | +jonnos | +lets | +lost | +lowered | +naw | +needed
65 +onwards | +organiser | +pear | +plumbed | +press | +rebuilt | +relieved | +schwester | +seventy | +shifted
65 +sportverein | +spät | +stopped | +strom | +student | +taken | +thin | +transfer | +trial | +vectron | +云
65 +减 | +凳 | +呢 | +扎 | +改 | +樣 | +装 | +走 | , asked | , at | , gone | , lifes | , never | , 外 | , 教
65 = #amount | = and | = away | = hingeschmissen | = jhv | = job | = kindergarten | = last | = man | = ne
65 = stood | = weiter | = 不 | = 太 | = 归 | = 时 | = 盘 | N begraben | N for | N kind | N live | N mit | ^ came
65 ^ dead | ^ feier | ^ haben | ^ left | ^ me | ^ nope | ^ should | ^ 弟 | a job | a year | abgebrochen
65 adjourned | again , | also $ | am letzten | an extra | and team | any longer | apt | archive | auch ,
65 aufgelöst | baby $ | back with | backwards $ | bei meiner | besser | bleibt noch | boss wants | bub | buy the
65 called it | called me | can = | chapel | comes | daf | danke , | das | day since | days and | dear , | debian
65 dentist and | do all | doing that | eingezogen | ended | er = | falsch | feier | feier muss | fifteen | fire $
65 first $ | für ihn | guys | ha | hab die | had it | half | helping $ | hes got | het | home but | home keys
65 home 沙 | house #days | i play | in and | in april | in march | in on | in st | into ≈ | is cancelled | is in
65 is let | is sold | is ≠ | ist leider | it , | it properly | it will | jez ≈ | just ≈ | kein = | lab took
65 last #number | laufen | left in | lidl | lifes | lifes too | lifts | longer give | love = | me ever | misheard
65 money $ | month $ | must have | my last | myself | nah , | new name | nicht = | night | nope | not be
65 note for | now | now in | now w | old one | out ≡ | owner | pensioniert | phone ? | piano $ | poor
65 poor things | pub tonight | pushed | quit = | racing | rebranded | renewed | rid | rid of | say ≈ | settled $
65 seven $ | shes | shes ≈ | should be | sister in | sisters drive | stands | sticks | still #amount | team voted
65 that from | that over | the agm | the archive | the bills | the divorce | the end | the laser | the no
65 they give | theyve given | those , | tin | to feed | to quarter | took that | two | und der | us time | veggie
65 vom = | vorsitz | voted | was born | was put | well skip | with #amount | wohnung | wolle hat | wrote ,
65 yesterday | you my | you post | zahl nix | zoo | zurück | zwei tage | ~ er | ~ jetzt | ~ 给 | ≈ by | ≈ minimum
65 ≡ 现 | 业 厅 | 中 考 | 九 十 | 也 | 了 #time | 他 收 | 停 了 | 公 司 | 卖 掉 | 又 高 | 吧 , | 天 起 | 字 头
65 尔 今 | 年 ≠ | 成 功 | 戒 了 | 打 了 | 掉 了 | 排 座 | 推 | 提 | 提 了 | 改 叫 | 新 规 | 新 验 | 是 ≡ | 是 人
65 爸 , | 献 | 献 血 | 电 = | 穗 | 立 | 约 | 给 换 | 续 | 老 太 | 要 我 | 规 , | 让 给 | 说 啥 | 都
70 #amount again | #amount already | #amount bekommen | #amount into | #amount 期 | #date 一 | #time 水 | +achtzig
70 +ago | +ai | +belly | +cancelled | +dearer | +delayed | +dichtgemacht | +drain | +dropping | +dusted
70 +everythings | +fahre | +filled | +forward | +git | +grass | +halved | +healed | +heisst | +listing | +mine
70 +mint | +need | +nehmen | +net | +ouch | +peaceful | +politely | +portable | +rebranded | +redland | +reversed
70 +sehen | +study | +they | +transferred | +twelves | +walls | +wore | +öde | +北 | +姓 | +嫂 | +急 | +拼 | +球
70 +自 | , #time | , and | , bless | , had | , house | , im | , remember | , saves | , weil | , 清 | = auf
70 = comes | = free | = fällt | = lease | = mehr | = mine | = nimmt | = nun | = takes | = under | = 对 | = 散
70 = 的 | = 跟 | = 飞 | >3 | N board | N more | N reicht | N wie | N ≈ | ^ alles | ^ brief | ^ handed | ^ mir
70 ^ nah | ^ placement | ^ sie | ^ signed | ^ storm | ^ traded | ^ 哪 | ^ 妹 | ^ 配 | a farmhouse | abnahme
70 address , | and hes | and ~ | as = | be the | because we | bei der | blazer , | blood tests | board ?
70 building | bus $ | but only | came | card | closed , | coach has | comes with | cook tonight | dad painted
70 days | den ≠ | der fuchs | dinners | don | dont pay | dropped out | eating | else could | er noch | erst ≠
70 extra shifts | farmhouse in | feb and | finally out | flat #amount | floor with | found a | funeral was
70 gallery | gardening | geh ich | gekündigt | gelöscht | gleich | going | gone | goodbye | gute | hall is
70 have left | her on | his call | his girlfriend | home first | home 区 | home 锡 | home 静 | in your | is as
70 is empty | its #time | ive | jetz = | jugs | k , | kids $ | land , | landed | lass | last week | list ,
70 mich als | mit ai | mixed them | moped | nehmen jetzt | nun | nursery run | of mine | open and | overbooked
70 overbooked , | own = | plumbed | powers ≈ | principal called | put to | quit | quiz has | rebooked | registered
70 rent , | saves | says = | scrapped | second hand | shes coming | shifts ? | shipped | shut | sie sich | sis
70 slid to | so mines | sofort ≈ | steht = | stopped going | storm took | story short | stunde | teacher
70 teacher even | the foundation | the jugs | the saddle | the stamp | the weekend | they needed | this quarter
70 to come | too big | transferred to | twins love | up ≠ | us , | w = | walk | walk ins | walked , | walked out
70 walls | was too | where i | wir ≠ | woman called | writes himself | zehn , | zum #number | zweimal | ~ anymore
70 ≈ babyyy | ≈ clean | ≈ instead | ≠ it | ≡ 了 | ≡ 四 | 上 班 | 了 不 | 人 家 | 从 上 | 休 $ | 位 | 充 | 充 电
70 分 了 | 包 的 | 压 的 | 品 $ | 外 包 | 如 | 娃 | 对 调 | 帽 | 徒 | 想 吐 | 我 降 | 打 $ | 换 老 | 收 二 | 来 电
70 的 $ | 算 $ | 管 = | 约 了 | 老 大 | 走 的 | 蹭 | 边 的 | 部 统 | 随 便 | 音 你
75 #days and | #time at | +ausgemacht | +because | +buy | +dauerhaft | +deleted | +doctor | +don | +entsprechend
75 +fear | +henceforth | +hören | +instead | +kauf | +kriegen | +lates | +nicht | +niece | +notice | +pls | +rauf
75 +rebooked | +round | +sales | +salsa | +schulter | +scrapped | +september | +ship | +sorry | +starts | +tennis
75 +teppich | +tired | +towbar | +verkauft | +wardrobe | +wurde | +ß | +喽 | +夫 | +嫌 | +岑 | +晓 | +聽 | +講
75 +重 | +闭 | , chip | , esse | , going | , oat | , 女 | = both | = cant | = go | = lives | = machen | = money
75 = over | = schleppen | = test | = war | = zahlt | ? not | N done | ^ bitte | ^ closed | ^ elbows | ^ eleven
75 ^ english | ^ ha | ^ half | ^ moved | ^ were | ^ 一 | ^ 答 | ^ 跟 | a $ | after #amount | alles ab
75 alternate #days | and i | anything $ | apart | asked to | back to | be N | bye | car with | cash ,
75 checked the | cut it | dance | darf | der tasche | did , | dinner $ | doch , | documentary | done with
75 eigenen | elbows | empty | essays | face the | fasten | gave me | going back | got fired | grey | guessing
75 hab auch | ham | has put | has replaced | has shut | have changed | hin , | holen | home month | i actually
75 i eat | i rebuilt | ich ein | ideas for | im a | in charge | in ≠ | is er | it #days | it on | it so | it to
75 l | left us | like the | lower | main , | mat | me n | meeting , | mi | mind $ | mittag | more , | my limit
75 n its | next = | nights , | old for | our = | own bed | passed in | quit the | renamed | rest | rings
75 same start | schon $ | schon um | scrapped ≡ | second #number | seit dem | shop with | single | so its | so the
75 start on | suit me | tante , | than = | than that | the mat | the south | there since | thesis goes | think its
75 towbar car | turned #amount | umgestellt $ | und den | us for | velvet | vermieter | was changed | was her
75 whole thesis | with an | work that | write it | year , | you do | ~ #number | ~ are | ~ it | ~ stays
75 übergeben , | ≈ days | ≈ und | ≡ but | 不 = | 业 给 | 他 管 | 住 了 | 傅 说 | 卫 | 司 全 | 奶 粉 | 工 了
75 弄 错 | 徒 弟 | 户 要 | 束 了 | 检 报 | 的 ! | 的 手 | 胃 | 花 $ | 说 ≡ | 轻 | 金 $ | 顿
80 #amount ago | #number wohnung | #titled was | +abgekauft | +alles | +baby | +bad | +bowl | +brauchts
80 +confession | +dear | +dinners | +dried | +dropped | +eleven | +erst | +feier | +fifth | +firma | +gluten
80 +goodbye | +high | +hosts | +hotel | +iphone | +kept | +lapse | +marketing | +noon | +pack | +pets | +qa
80 +renumbered | +scared | +somebody | +swapped | +tess | +turned | +uni | +week | +两 | +九 | +用 | +辩 | +降
80 , 家 | = aufgehört | = doesnt | = done | = getting | = history | = i | = macht | = who | = 了 | = 先 | = 取
80 = 跑 | = 都 | N journal | N salary | ^ day | ^ garage | ^ renewed | ^ switched | ^ there | ^ theyve | a month
80 abgegeben | already paid | als N | an egg | are by | are ok | better , | bloods | both a | box | budgie
80 chuffed | cleared | counted | dropped ≈ | dumped | finished | fired from | fourth = | from home | from ≠ | gave
80 gestorben | gestorben , | got too | hab mich | has the | hats | have decided | home in | im on | it off | its =
80 its at | jan | jetzt ~ | landlord | last day | left , | legs | letter says | meine = | morgens | my back
80 near the | ner | ner #number | new number | new router | normal | nurses | on #days | on foot | once a | ours
80 over there | poor = | pune | relief | replaced | running outside | says | sheet | sick of | six $ | taken on
80 that since | the season | them to | to say | until the | upgraded | way , | we talk | yes but | your notes | ~
80 ~ bleibt | ~ ok | ~ yes | ≈ $ | ≡ now | 了 师 | 了 没 | 免 | 各 ≡ | 吐 , | 她 上 | 学 期 | 就 不 | 就 有
80 我 小 | 才 = | 招 牌 | 杭 | 汇 | 的 钱 | 睡 | 碰 $ | 箱 $ | 背 书
85 # now | #date 结 | #days s | #number so | +achtzehn | +audit | +aufgehört | +bumped | +cancel | +curtain
85 +ebay | +episode | +folded | +further | +holen | +jumped | +lack | +longer | +lower | +medals | +milkman | +neu
85 +passed | +properly | +regular | +reorg | +rise | +schedule | +stomach | +than | +upgraded | +verkürzt | +your
85 +了 | +写 | +医 | +古 | +捷 | +朝 | +村 | +米 | +脚 | +转 | +迁 | +音 | , insurance | , insurers | , running
85 , second | , ≡ | , 不 | = course | = dont | = finally | = its | = never | = r | = 分 | = 加 | = 干 | = 批
85 = 空 | N aus | N been | N der | N married | ^ #daypart | ^ beat | ^ gibts | ^ its | ^ neither | ^ not
85 ^ putting | ^ went | ^ wont | ^ wrong | ^ you | ^ 姓 | ^ 推 | a piece | a text | air | back clear | become
85 before #amount | bungalow $ | cancel | changed $ | choir site | christmas , | come again | do ≈ | e $
85 find ich | free now | geändert | ground = | h | hat aufgehört | hat mein | her to | him down | home 匙
85 home 州 | home 钥 | i write | it is | its ≈ | ja alles | jetzt ≈ | job in | künftig | lage #number | legs ,
85 letzten | läuft aus | me #number | messen | mine $ | misread | month = | my = | new #amount | new =
85 no #number | no more | of them | off , | other phone | plenty | rather have | research | same #number | same $
85 says i | seven | she was | since #days | sleeping | statt = | stop the | stopped with | stück , | tag
85 tell you | the gallery | the top | them again | took my | up in | up so | waage | wrong about | ~ ? | ~ 是
85 überall | ≈ from | ≠ from | ≠ yesterday | ≠ 五 | 下 来 | 个 , | 了 = | 了 合 | 儿 那 | 功 | 千 , | 在 #date
85 女 朋 | 奶 回 | 嫌 = | 子 吃 | 小 班 | 式 | 更 正 | 正 常 | 沾 | 球 也 | 百 $ | 的 家 | 跟 = | 过 来 | 还 跟
85 这 么 | 马 ,
90 #days night | #number is | #time ! | #titled 是 | +awake | +crashing | +ended | +extended | +extension
90 +früher | +gemütlich | +general | +half | +letzter | +neither | +neuer | +promoted | +r | +raised | +silvester
90 +storm | +storniert | +兰 | +弃 | +折 | +撤 | +散 | +睛 | +碎 | +酒 | +鱼 | , boss | , physio | , statt
90 , with | , 俩 | = down | = hab | = name | = person | = storniert | = up | = 叫 | = 摘 | N baby | N have | N put
90 ^ all | ^ cancelled | ^ dont | ^ five | ^ fox | ^ neue | ^ surgeon | ^ 早 | and in | and shut | bestanden
90 brother $ | cancelled | cancelled it | daheim | dem = | die stunde | donor | every time | far $ | for about
90 gave = | gestrichen , | grass | hab | heart | hob i | home last | home 单 | i sat | is ≈ | isnt , | ja ~
90 keeps , | kitchen $ | land | mit | moved = | moved out | my boss | n the | neuerdings | no ~ | november ,
90 of new | ohne = | only on | other value | packed it | put me | retirement | roggen | s , | second tester
90 shut at | so all | so that | stayed | stelle | steps | tausend | telly $ | teurer geworden | the manager
90 these | they cut | to ≠ | told the | up when | upped | venue | weekly | went under | when the | zero | ~ #days
90 ≠ | 不 带 | 个 对 | 也 退 | 今 年 | 们 的 | 停 , | 到 账 | 号 没 | 喽 | 子 教 | 心 $ | 我 到 | 按 这 | 期 了
90 用 ~ | 盛 | 能 睡 | 脆 | 起
95 #number #number | +couple | +drives | +grr | +honestly | +mistake | +neun | +since | +squared | +stairs
95 +stepped | +t | +verlegt | +weeks | +喊 | +延 | +拜 | +甜 | , dear | , ive | , starts | , 凉 | , 转 | = can
95 = gekündigt | = hatte | = is | = n | = retired | = 上 | = 交 | = 八 | = 算 | ? no | N again | N bei | N please
95 ^ doc | ^ drei | ^ on | ^ shaved | ^ she | ^ ≈ | ^ 管 | ^ 编 | a ≈ | archive and | babyyy | binned | binned =
95 doubled | er , | fell through | for me | gestiegen | getauscht , | had the | hand | hate = | hinterm
95 holiday , | home moved | honestly | i are | im in | in november | instead but | ist gestrichen | it any
95 its the | january $ | laid | last #amount | lead | lehre | line in | mehr , | migrated | nicht $ | not a | ok $
95 piece $ | pulled | read it | shaved the | so cheese | split up | then , | they , | this year | venue flooded
95 was the | went over | übergeben | ≈ erhöht | ≡ 回 | 上 周 | 下 #days | 两 千 | 了 别 | 分 到 | 室 了 | 撤
95 有 我
100 # and | # 了 | +abgeschlossen | +cfo | +changed | +chapel | +dont | +doubled | +einschläfern | +nö | +plays
100 +putting | +roof | +scan | +废 | +摆 | , full | , streaming | , unbefristet | = anymore | = 停 | = 回 | = 改
100 ^ back | ^ everything | ^ flat | ^ it | ^ third | ab | after that | after the | and only | badge and | bescheid
100 british | die haben | doors | draufgelegt | fade | fully | garage is | habe | haben | home 多 | house is
100 hundred | i = | i lost | i want | it by | jetz | kill me | me as | mittlerweile | monthly | moved from
100 of this | point | said yes | streaming | told you | um $ | upgraded to | verein | wieder , | wont do | ≈ =
100 不 用 | 交 给 | 写 错 | 别 再 | 到 三 | 如 今 | 必 | 盖 | 组 里 | 门 口
105 #titled 带 | +anything | +clear | +department | +e | +impossible | +laid | +nehm | +right | +weekly | +五 | +死
105 +牛 | , follow | , uncle | = doch | = gestern | = his | = started | = turned | = wird | = 挪 | = 提 | ^ da
105 ^ 她 | ^ 错 | bei mir | boards | delivered | der | der ≈ | empty $ | fifty | für immer | haben den
105 hat angerufen | him on | home finally | hr | i now | in both | kauf | laut | life | mehr = | new schedule
105 one , | she had | sold $ | that now | to love | too much | turns out | w a | want ≈ | well now | would rather
105 ≠ since | 了 现 | 住 $ | 我 搬 | 推 到 | 早 不 | 期 = | 腰
110 #amount #number | #amount early | +contacts | +heaven | +misread | +ones | +royal | +term | +wrong | , net
110 , steel | = has | = off | = 让 | = 那 | ^ das | ^ 改 | and it | centre , | dem bruder | finished with
110 for keeps | head of | heard | i take | ich jetzt | is good | its ≠ | kann ich | lassen | long story | off =
110 only #amount | over , | so ≠ | the ring | traded | uhr | ups | we swapped | weve | y | yes $ | 不 怕 | 二 =
110 剩 | 千 $ | 在 操 | 旧 , | 起 = | 送 给
115 #amount down | +agm | +dafür | +history | +landlady | +switched | +y | +吉 | , 打 | = abbestellt | = haben
115 = hat | = out | = und | ^ jacked | ^ 产 | ab heute | all #amount | as of | at all | bossing | cant get | den =
115 der hat | easter $ | firm in | good till | hochgesetzt | it up | können | lie | makes ≈ | mrs | paar | rücken
115 since | sod the | sold #date | spring $ | t , | the extra | the wife | them ≠ | thieves | um fünf | use =
115 whole = | with this | ≡ 不 | 不 请 | 台 归
120 +fifty | +love | +renewed | +充 | = any | = fine | = have | = shut | = 搬 | = 辞 | ^ new | ^ 现 | and yes
120 auf ≠ | contracts | deleted | down to | eggs are | eyes | from here | from this | hat mich | into his | my new
120 place , | rust | the = | the ≠ | uns in | weekend , | wrong , | zehn | 右 边 | 我 自 | 拜 | 搞 | 昆
125 +nein | , 往 | = walked | away on | bin | cancelled = | colleague , | doing = | done and | em | es ist
125 hat sie | if you | in feb | let = | mein = | pushed to | so = | them now | went live | ≠ 来 | 子 一 | 的 课
125 语 音
130 +hated | +monthly | +weg | +消 | = weg | = 我 | ^ erst | ^ ne | ^ only | ^ passed | bitte , | family | i get
130 inzwischen | little N | my hands | to #time | ≈ seit | ≈ she | 安 了 | 开 学
135 ! | #amount 不 | , neighbours | = closed | ^ had | ^ shes | ^ sold | ^ 别 | and = | home 租 | home 间 | left =
135 longer = | nach dem | nach der | sie hat | 啦
140 +anymore | +nah | +rules | = are | = thing | = 涨 | ^ er | bye = | given | 他 老
145 #amount many | = altogether | = bin | = 卖 | ab N | from today | seit | you please
150 +five | +白 | = kommt | = wurde | ^ 是 | die = | h ,
155 = 被 | chucked = | nur noch | of = | signed | this morning
160 = 也 | = 昨 | = 退 | ^ = | ^ ≡ | paid = | 新 =
165 = ist | = went | = 从 | dropped = | no need | says ≈ | what i | with =
170 +# | weder
175 = | = gone | = habe | ^ 不 | for good | not ≡ | replaced = | swapped =
180 ^ #
185 +bust | more = | not =
190 no =
195 后 =
205 heard lead
250 home 搬
270 share
"""
"""Weights in hundredths of a log-odds, each followed by the features that have it."""
