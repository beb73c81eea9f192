"""Weights for `outdating`, as fitted by `make eval-corrections ARGS=--fit`."""

TABLE = """
-715 *
-170 ^ in
-150 jetzt auch
-140 +own | = bleibt | N you | client | heard alone | ≡ $
-135 = 又 | ? | ? $ | is not
-130 +vom | N habe | dry | nearly
-125 = still | only , | 改 用 | 着 了
-120 +stehen | = says | ^ yes | is no | the N | to pay | ~ was | 客
-115 +fox | +year | N all | N anymore | moved the | still = | whats | 像 | 点
-110 +heut | +乌 | +窝 | = sich | N wurde | ja | was ≠ | 是 ≠
-105 ! i | +dry | +ihr | +key | +order | +think | +town | +wird | +挂 | +能 | = the | N off | N wife | ^ #titled
-105 ^ meine | ^ my | am ≠ | dabei | dass | home #amount | how | hängt | moving | on ≠ | once | over the
-105 switched the | taxi | 别 的 | 路
-100 #days from | +abend | +black | +clock | +guy | +hair | +nearly | +肉 | +香 | , then | = stays | = this | = 没
-100 N gestern | ^ a | ^ change | and has | from a | he says | here , | its an | oder | order | same ≈ | stopped the
-100 then | 代 | 句 | 挂 了 | 搬 去 | 请 | 费 | 车 车
-95 +#daypart | +betriebsrat | +cake | +dem | +fürs | +make | +plates | +where | +wrote | +入 | +吓 | +持 | , need
-95 , nothing | = called | = ok | a second | back as | before | costs ≈ | flight | haha | is off | need a | not
-95 ob | on #amount | seit ≠ | sure | the #number | was at | weg $ | ≡ = | 明 天 | 没 人 | 涨 到 | 老 婆 | 该
-95 贵 ≈
-90 +bring | +friend | +getauscht | +if | +list | +moving | +pension | +physio | +top | +哭 | +如 | +打 | +楼 | +花
-90 , der | , 给 | = die | = left | = next | ^ the | all = | all ≈ | almost | apartment | baby , | gestern ≈ | get
-90 is called | keine N | might | staging | tell | well | wieviel | wo | ≈ ≈ | 上 = | 千 五 | 成 ≠ | 销
-85 #days auf | +about | +almost | +crisps | +fitted | +found | +gloves | +offiziell | +passt | +ring | +s | +say
-85 +schreib | +sure | +telly | +vote | +三 | +慢 | +问 | , sagt | , thanks | , told | = N | = me | = sister | = 再
-85 >26 | N gewechselt | N gibts | N ≡ | ^ 对 | best | cleaner | didnt | gestrichen $ | grand | home 都 | i cant
-85 ihren | invoice | last year | leaves | läuft | nele | newsletter | sag | sat | schon wieder | swim | threw
-85 to #amount | to #days | to give | wants | was in | we did | when | 丁 | 个 了 | 主 | 公 | 后 来 | 咋 | 得 我
-85 的 那 | 笑 | 说 | 谢 谢 | 闹 钟 | 验 小
-80 #amount 那 | #number since | +aber | +bald | +bub | +burned | +later | +long | +op | +paying | +picked | +quiet
-80 +shearer | +staging | +which | +whos | +告 | +线 | +赶 | , 花 | N gone | N to | ^ good | ^ theres | ^ 数 | add
-80 again | and back | auf N | auf die | back again | cancelled puregym | closed on | coffee | fast | for N
-80 havent | heil | home to | if | it was | law | morgen | move | of a | online , | paper | raum | says hes | stuck
-80 that N | that the | thats it | these = | this = | tomorrow | twins | vom N | von der | wie immer | wollen
-80 不 是 | 乐 | 今 晚 | 侄 女 | 候 | 壁 | 复 诊 | 庆 | 搭 | 改 到 | 比 | 老 公 | 要 | 车 险
-75 #amount at | #amount since | #number from | +arme | +ate | +bruder | +butter | +dass | +didnt | +full | +might
-75 +münchen | +neighbours | +night | +ok | +other | +seepferdchen | +sister | +theres | +tomorrow | +trotzdem
-75 +walks | +would | +七 | +净 | +半 | +坚 | +多 | +实 | +客 | +考 | +舞 | +金 | , zum | = does | = from | = isnt
-75 = it | = neue | = schon | = that | = time | = wants | = 长 | N sold | ^ frau | ^ 写 | ^ 把 | and N | arent
-75 auf = | be in | come , | correct | given up | has come | her fella | i changed | last time | moved its
-75 next week | one | paragraph | partys | pipe , | robbery $ | send | shop has | slipped | switch the
-75 the cottage | the new | tmrw | vergessen , | wifi | zimmer , | 乘 | 了 ≈ | 做 外 | 叶 | 外 卖 | 多 少 | 婚 礼
-75 弟 弟 | 快 递 | 想 | 球 | 琴 课 | 用 啦 | 知 道 | 长
-70 #amount N | #amount days | +asking | +gas | +grand | +live | +milk | +ob | +oder | +pool | +print | +puregym
-70 +rain | +raum | +sechs | +sein | +signed | +slipped | +sofa | +table | +teds | +tim | +walk | +书 | +发 | +外
-70 +帮 | +搭 | +旅 | +玩 | +科 | +立 | +铺 | , was | , 烦 | , 车 | = didnt | = mich | = party | = same | N bin
-70 N is | N since | ^ mums | all good | all over | alle hühner | also N | and you | angeblich | arrow | arrow ,
-70 back = | bis | biscuits | calls | choir | cold | company | contract , | der spätschicht | double | drei ,
-70 eigenes zimmer | fahre nicht | floor , | for my | for october | getting a | has cut | home #days | hühner weg
-70 i had | ich bin | ich seit | ill , | is #amount | jetzt #number | keeping poultry | kostet jetzt | ledgers
-70 lights | lindenstraße | lindenstraße , | lost #amount | mal | milks any | never keeping | oliven | out my
-70 partner | party | print | said $ | schreib | sechs | since last | so ne | sold out | still on | tern | the same
-70 the sofa | thinkpad | tonight | us $ | us milks | war | wasnt | we = | week | wie | zum N | ~ and | ≈ an | ≠ 去
-70 下 那 | 人 的 | 别 叫 | 周 末 | 大 宝 | 套 摘 | 奶 奶 | 就 = | 店 休 | 成 #time | 数 | 是 大 | 牙 套 | 的 店
-70 盒 | 给 #titled | 英 | 语 | 课 挪 | 这 ≡ | 隔 壁 | 雨 | 麻
-65 +amazing | +apartment | +banging | +bin | +bis | +calls | +change | +earns | +froh | +go | +great | +guess
-65 +gut | +kitchen | +l | +lads | +libre | +looks | +mail | +newsletter | +partys | +pass | +thought | +train
-65 +wasnt | +wo | +übrigens | +≠ | +事 | +会 | +啊 | +无 | +朵 | +染 | +真 | +睡 | +笑 | +躺 | +铁 | +雅 | +饭
-65 +骨 | , da | , lovely | , what | = broke | = ein | = here | = put | = right | = 做 | N nehme | N zu | ^ N
-65 ^ right | ^ 知 | ^ 这 | ^ 阿 | ^ 隔 | a new | a vote | a weekend | all day | allergic to | arbeite | at work
-65 aunt | bother with | by | came on | clock | dann | der hängt | der lindenstraße | die #number | diese
-65 electric , | every ≠ | file | found it | für = | garage , | got = | home ! | home 不 | hour from | i said
-65 i went | ihre | is closed | is it | is now | ja = | jealous | katrin | lastpass | less | libre | mess , | moon
-65 moved here | nephew | new , | next | on #number | parents | paying #number | played | puregym , | rota
-65 school = | seinen | sister | so we | super | surname is | thanks for | the #time | the food | this time
-65 this ≡ | very | wann | weiß | what | wohn | wohn ich | ≈ # | 专 | 了 十 | 写 | 卡 | 友 的 | 同 学 | 周 | 啊
-65 回 家 | 宝 | 手 , | 文 | 目 | 票 酒 | 笔
-60 #amount line | #date no | #days now | #number and | #time | #time last | #titled 的 | +add | +angeblich | +app
-60 +aunt | +basket | +befördert | +bei | +beide | +bleib | +book | +brown | +coffee | +conny | +dann | +deck
-60 +diese | +ein | +eingestellt | +file | +follow | +ganz | +ging | +halt | +hell | +jealous | +knie | +lasagne
-60 +late | +loft | +lunch | +may | +mitglied | +natürlich | +nice | +past | +quasi | +sag | +saved | +send
-60 +stunden | +thing | +thinkpad | +thrilled | +tmrw | +view | +website | +wifi | +word | +zimmer | +≡ | +元 | +抽
-60 +比 | +温 | +盆 | +章 | +血 | +跳 | +都 | +面 | +黄 | , from | , is | , thats | , 别 | , 直 | = alles | = den
-60 = mother | = sold | = 换 | N mehr | N not | ^ #daypart | ^ lads | ^ nearly | ^ our | a wedding | after last
-60 always = | amazing $ | anyway | app | are not | at ≈ | basket | basket $ | between | bike | black | corsa
-60 corvane | crying | dark | der #titled | door | down | drüben | eingestellt | eltern | exam | for this | four $
-60 get done | got there | hamster | has #amount | hat seit | holiday | home 没 | house ≠ | is that | ist mir
-60 jetz der | just got | kollegin | lunch now | noch nicht | normal $ | notes | number #amount | or | paying | per
-60 pull | pump , | room so | service | she has | so ≈ | sold his | super , | the newsletter | this | through lunch
-60 to move | vorm | want the | weds so | while | word | write | ~ 上 | ≈ N | ≈ last | ≠ early | ≠ ≡ | ≡ 说 | 不 在
-60 你 说 | 修 好 | 共 | 几 | 到 #amount | 到 实 | 园 | 妇 | 差 点 | 年 去 | 成 # | 我 要 | 房 租 | 房 贷 | 是 不
-60 王 | 苏 州 | 递 | 醒
-55 #amount left | #time on | +#amount | += | +bacon | +best | +box | +choir | +even | +fahr | +fährt | +gefunden
-55 +gelegt | +heil | +holiday | +ice | +idea | +ihren | +insured | +just | +lassen | +lights | +mit | +mum
-55 +namen | +neighbour | +nineties | +nursery | +shed | +sleep | +starting | +swim | +um | +unterschreibt | +vape
-55 +very | +weekend | +while | +write | +共 | +几 | +刀 | +同 | +声 | +夜 | +套 | +安 | +报 | +松 | +泡 | +爷
-55 +物 | +目 | +知 | +秒 | +级 | +记 | +财 | +零 | +龟 | , christmas | , of | , says | , whats | , 啊 | , 我
-55 = #days | = mit | = month | = of | = until | = ≈ | = 吃 | N any | N daughter | N meine | N sind | ^ $ | ^ find
-55 ^ ingo | ^ ivos | ^ put | ^ tamsys | ^ teammeeting | ^ write | ^ 小 | ^ 项 | achilles | achilles , | allotment
-55 another = | asking | auch noch | auf #amount | behandlungsräume | behandlungsräume $ | being home | better $
-55 cat | concert | cousins | cron to | dads | die N | die katrin | doing #days | drei N | electric | favourite
-55 four | frei | from N | from me | gut | haare | haben nur | have #amount | heißt jetz | hes not | heute die
-55 hill | ice | in by | in that | ingo | insured | isnt on | its #amount | ivos | ivos biopsy | juniper | key now
-55 labels | lang | level | lift $ | liked | lohn | meant | meat | meint | mir noch | my surname | nimmt jetzt
-55 nineties | not two | now i | of course | on him | paid , | replaced N | s N | schools | sister had | sisters
-55 soll | sourdough | sugar these | sure , | tamsys | teammeeting | teammeeting jetzt | tears | the nineties
-55 the website | this once | time since | to her | to us | told him | umgestellt , | vier behandlungsräume
-55 we always | we get | wenn | went = | why | will | without sugar | won #number | yet | zu mir | zusätzlich
-55 ≈ with | ≈ 了 | ≠ is | ≠ night | 也 = | 了 一 | 会 | 儿 子 | 写 成 | 咯 周 | 售 | 啊 不 | 团 | 头 孢 | 孢
-55 工 资 | 帮 | 快 | 我 还 | 才 | 明 | 末 闲 | 梯 | 电 梯 | 的 不 | 站 | 行 倒 | 贷 一 | 都 不 | 钟 | 险 今
-50 #amount warn | #amount 也 | #number , | #time now | #titled now | #titled 转 | +arrow | +bitte | +brummt
-50 +buried | +cold | +cottage | +crowd | +fast | +flu | +for | +fortnight | +fwd | +gavel | +havent | +home
-50 +kollegin | +ladies | +leitung | +liked | +man | +painted | +people | +please | +pull | +remember | +seinen
-50 +something | +strong | +teacher | +teamleiter | +tears | +unten | +van | +vorige | +wann | +wärmepumpe | +亮
-50 +今 | +剪 | +吃 | +售 | +室 | +托 | +格 | +椅 | +站 | +笔 | +职 | +解 | +让 | +贴 | +过 | , does | , how
-50 , papyrus | , where | , 全 | = also | = neuen | = tonight | = what | N as | N by | N ins | N musste
-50 N switched | ^ bought | ^ chem | ^ nephew | ^ this | ^ 刘 | ^ 老 | allianz | anderen | as ever | aye | bits
-50 board , | braces | but no | car this | caravan | chem boy | come back | course = | crowd | crowd went | declan
-50 diese woche | flu | folder | fun | gets N | have = | her | home now | i dont | i put | ich $ | ihm | its for
-50 job alerts | just | just moved | kettle | klar | klar , | labels , | ladies | late | leads it | minus | minutes
-50 my blood | no longer | off N | one of | papyrus | papyrus deinstalliert | people | ready | seconds | shame
-50 shuts | sich = | sie = | sind wir | smells | so #amount | spaß | story | switch | test | thank you
-50 the allotment | the caravan | the pipe | the ≡ | tho | ticket , | tiles $ | to take | towel | train instead
-50 trying | von | war nur | went fine | which | who | zu ≈ | ~ is | ≈ and | ≈ as | ≡ from | 一 共 | 一 千 | 份 证
-50 剩 = | 又 挂 | 后 过 | 在 ≠ | 好 | 年 #amount | 您 | 推 迟 | 用 ≈ | 菜 | 试 | 身 份 | 车 牌 | 还 | 还 是 | 馆
-45 #amount 只 | #date | #days as | #number | #number that | #time since | +along | +anyway | +aye | +badge
-45 +before | +bird | +birthday | +bits | +born | +boxes | +chair | +comes | +cream | +d | +dritte | +folder
-45 +having | +hip | +ingo | +ins | +jede | +letzte | +little | +meant | +morgen | +move | +of | +official | +ready
-45 +registry | +schon | +shame | +should | +sogar | +switch | +tap | +tonight | +viel | +wenn | +ziehen | +分
-45 +勤 | +另 | +壁 | +孢 | +烊 | +爸 | +许 | +谈 | +踢 | +闺 | , crowd | , shame | , 奶 | , 没 | = at | ? ? | N go
-45 N my | ^ #days | ^ aye | ^ boxes | ^ when | ^ 五 | ^ 牙 | ^ 网 | ^ 英 | ^ 菜 | am #number | april ,
-45 auf #number | before i | betriebsrat | bin so | boxes come | cream | cricket these | dem skat | der jhv | die ≠
-45 digicert | digicert for | driving test | elm | elm in | emil | ersten N | flats | fourth jab | full , | fürs
-45 gelegt | gelegt , | got flu | grade | grand , | gregor | halb ≈ | hedge | home , | honey | i liked | ice cream
-45 insurance is | insured with | is insured | isnt ≡ | jab | jabs | jenkins 那 | junge | k $ | keinen | kidding
-45 mann $ | move the | move to | nach ffm | nachbar | nailed | nee lass | need #amount | nephew found | new people
-45 new price | newsletters | newsletters N | noch | not mine | not moving | nur die | october , | off and | out on
-45 over $ | painted , | partys on | pond | pond filled | puregym | rein nach | says $ | school | shame , | she is
-45 shed | since ≡ | skat | skat wird | so no | sofa | swapped digicert | swapped to | thanks | the cricket
-45 the elm | the mortgage | the newsletters | the pond | til | took = | two , | von = | wagen | wagen haben
-45 website of | went well | windows | zwölf N | ≈ bett | ≠ ! | ≠ # | ≠ has | ≡ is | 了 我 | 医 保 | 半 叶 | 叶 轩
-45 在 教 | 妈 妈 | 姨 | 孢 并 | 定 期 | 宝 , | 对 头 | 推 荐 | 改 跑 | 早 班 | 步 | 步 先 | 满 #amount | 燃 | 班
-45 班 改 | 电 了 | 纸 | 荐 | 轩 | 轩 $ | 迟 | 迟 到
-40 #amount mit | #date instead | +! | +alarms | +allianz | +anderen | +apixaban | +apparently | +arlo | +banger
-40 +bloke | +bullet | +copy | +cousins | +der | +drüben | +earlies | +einem | +fragen | +freezing | +im | +jabs
-40 +keys | +kidding | +lang | +lohn | +mach | +mama | +marrow | +mein | +meint | +nailed | +ne | +papyrus | +phone
-40 +rained | +schrebergarten | +sechst | +second | +single | +sitze | +spring | +straight | +swimming | +vegan
-40 +waiting | +were | +whole | +子 | +工 | +左 | +第 | +粥 | +荐 | +象 | +辈 | , looks | , masters | , still
-40 , tears | , 正 | = ihren | = insurance | = kollegin | = mate | = mir | = nachbar | = 给 | N #number | N after
-40 N down | N havent | N verlängert | ^ arlo | ^ bos | ^ toners | ^ too | ^ 同 | ^ 班 | about homework
-40 allianz zur | and still | arlo | arlo started | at ≠ | aye , | bar | bits $ | bos | bos gave | both kids
-40 butter $ | called | cards | chain | chemo yesterday | da und | das schleppen | der #number | drum | einem
-40 first , | fragen | gcc | gig | glasfaser | golf | hamster and | hat schon | her $ | home all | home 手
-40 homework | homework , | immer #days | in bits | is | is back | jab done | lessons | läuft weiter | mann
-40 masters | masters is | mein mann | month since | motability | nen | new chain | nights | noch #amount | not ~
-40 nursing home | oh sure | on gcc | over it | party is | passed grade | place in | rained | raus $ | remind
-40 second = | seit ~ | senior | sleep | smoking | somebody | thats ≈ | the golf | the motability | there $
-40 to #titled | toners | toners from | trainee | yet , | ~ N | ≈ 三 | 乐 上 | 乐 乐 | 了 上 | 了 还 | 别 用
-40 到 #date | 到 ≡ | 地 被 | 媳 | 帮 我 | 店 昨 | 开 门 | 手 = | 报 告 | 期 昨 | 柳 | 的 电 | 笔 定 | 网 名
-40 菜 地 | 说 不 | 课 | 负 #amount | 这
-35 #titled retired | #titled to | +a | +allein | +angefasst | +badly | +boss | +but | +carpets | +drum | +einzige
-35 +eye | +fetch | +flats | +gekauft | +gets | +gig | +had | +helping | +honesty | +honey | +id | +in | +kita
-35 +lamb | +masters | +mo | +morning | +newsletters | +pilates | +suit | +surname | +then | +toners | +trainee
-35 +tutor | +verheiratet | +voice | +windows | +厅 | +宝 | +租 | +缸 | +轮 | , please | , pump | , senior | , well
-35 = aber | N aufgehört | N must | N noch | N und | N we | N yet | ^ rex | ^ tell | ^ vorstellungsgespräch | ^ 可
-35 a jar | a podcast | about renting | are going | bleibt = | burned | but | car , | carpets | carpets out
-35 change | dave | day ≈ | dem schlafzimmer | der allianz | der garage | didnt = | different | down the | fetch
-35 flight its | for | got renamed | has a | honey is | i pulled | ich fahre | isnt | it here | its mot | jar
-35 jar of | kühlschrank | last weeks | lectures | left N | lesson | lunch | mehr da | mess | more school | more ≡
-35 mortgage is | mot | moved #titled | nach oliven | now ≠ | of honey | oliven , | only have | pipe | plot back
-35 ready now | renamed , | renting own | rex | rooms with | same as | says it | schlafzimmer | schlafzimmer ,
-35 senior as | should | stopped trying | swapped rooms | team | terry | terry last | the carpets | the day
-35 the drum | the flight | they say | today , | torn | trying , | tues same | up at | vorstellungsgespräch
-35 vorstellungsgespräch vorgezogen | walks | waschsalon | waschsalon $ | weekday | weeks mess | wieder waschsalon
-35 with terry | you = | übrigens | ≠ today | ≠ 没 | 个 安 | 加 | 卓 | 卓 屏 | 可 乐 | 名 换 | 四 班 | 在 管
-35 安 卓 | 定 | 岗 ≠ | 是 # | 测 | 班 交 | 的 ~ | 的 房 | 第 | 管 账 | 谢 | 账 了 | 账 的
-30 #amount seit | #date it | #date 了 | +age | +airline | +ask | +beside | +bett | +can | +cards | +customers
-30 +draußen | +frist | +het | +isnt | +jab | +keine | +kühlschrank | +lanyard | +lovely | +mann | +memoir
-30 +neujahr | +oliven | +per | +red | +roast | +shower | +slide | +sucht | +带 | +彻 | +道 | +鲜 | , came | , day
-30 = 号 | N = | N taken | ^ ghents | ^ need | ^ 到 | ^ 楼 | a day | ah | always | at N | azubi | azubi mehr
-30 beside = | bleibt bei | both cataracts | cataracts | cataracts done | dem kirchenchor | der N | die hebebühne
-30 down $ | ever , | fuchs = | für die | ghents | hebebühne | hebebühne hab | hedge out | ich da | ill | jugend
-30 keinen azubi | kept | key | kirchenchor | kühlschrank wurde | lates for | lessons are | library | long | meiner
-30 memoir | memoir , | more trainee | my telecaster | neuer kühlschrank | not that | november neu | oder $
-30 on lates | passed , | podcast person | pupils | rex had | shall | shes in | shes not | sie die | since ≈
-30 smoking for | so lang | so lessons | some | suchen | sucht | telecaster | telecaster to | the app | the memoir
-30 they wouldnt | trainee $ | visa | wants a | week with | whole hedge | with smoking | with the | wk | ~ in
-30 ≈ off | 专 业 | 业 批 | 了 谢 | 亩 刨 | 动 $ | 十 亩 | 口 撤 | 吃 | 头 十 | 媳 妇 | 摆 路 | 来 = | 的
-30 第 #amount | 要 ≠ | 路 口 | 转 专 | 进 =
-25 ! visa | #amount 八 | #number $ | +#days | +abgemeldet | +again | +bossing | +cheaper | +dave | +folk
-25 +geschichte | +hand | +inzwischen | +keinen | +life | +made | +morgens | +my | +opa | +rather | +shoulder
-25 +stove | +suchen | +theyre | +vor | +wants | +下 | +桶 | +检 | +签 | +罐 | = auch | = green | = took | N ist
-25 ^ kitchen | ^ 海 | and put | aylin | aylin zu | bank closed | bei aylin | centre down | coeliac $ | day centre
-25 dinner | exaggerated | exaggerated and | fasting | friend | fährt | für | her from | heute | hiscox | hiscox ,
-25 in = | it ≠ | kitchen opened | me $ | meine | neither | now $ | on #time | out the | phones | remind me
-25 sold it | sprouts | stove | that exaggerated | the stove | today $ | visa good | was coeliac | ≈ 期 | 一 回
-25 个 | 中 , | 二 中 | 到 = | 去 = | 发 | 回 = | 在 没 | 壳 都 | 存 | 开 二 | 纸 壳 | 见 纸 | 谢 我 | 车 取 | 面
-20 ! ≠ | #amount 了 | +apotheke | +bleibt | +chase | +garantie | +hin | +or | +point | +prod | +standplatz
-20 +thank | +well | +千 | +地 | +干 | , november | , 一 | >16 | N ! | N bank | ^ danuta | ^ phones | along
-20 been moved | canary | canary , | danuta kommt | den N | do not | either | even | fleisch gegessen | froh
-20 go #days | go on | hes | i quit | im team | it out | it this | last canary | lease can | leider | longer
-20 my lease | new boyfriend | of my | office lease | our | phones only | plot | podcast | so froh | taught
-20 team jetzt | twice | und N | wieder fleisch | with ≠ | ≈ garantie | 今 天 | 室 | 报 | 旅 | 是 | 知 | 视
-15 #number erhöht | +braces | +ever | +gefreut | +hilfskräften | +ich | +mess | +mittelkürzung | +nen | +noch
-15 +potatoes | +riesig | +übrig | +乡 | +们 | +建 | +着 | , can | , 就 | N so | ^ #date | ^ robbo | ^ yusuf | ^ 电
-15 by ≠ | card machine | eltern wissen | enough | gate , | gekündigt , | haha $ | i only | jetzt #days
-15 meine eltern | my plot | new year | no wedding | of today | off him | robbo | robbo coughed | theres | too ,
-15 tram | um halb | um ≠ | yusuf | zimmer | 他 | 楼 | 花 | 行 | 趟 了 | 车 了 | 过 年 | 道
-10 #amount without | +bunk | +ihn | +versetzt | +交 | +日 | N are | adé | aus | ausbildung
-10 ausbildung abgebrochen | day now | die ausbildung | gestern #amount | handed back | ich hab | ich schlafe
-10 jetzt jeden | mach | schlafe | schlafe seit | taken off | van | voted in | zum | 位 也 | 可 | 奶 | 年
-5 +社 | , he | , moved | an N | ich schon | now without | on , | on the | rid | rid of | taken up | thats
-5 und jetzt | vom | wedding $ | weder N | ≠ 起 | 赶
5 #amount in | #days 发 | , #daypart | for it | hair | here on | isch | proper | seepferdchen | son in | swapped
5 tea , | weekend | when it | zurück | 亩 | 凉 | 利 索 | 我 弟 | 我 那
10 #date , | +have | +than | +zur | +狗 | , #days | , ≡ | , 今 | ^ been | die hat | for us | gets | its a
10 its just | mehr $ | music | no , | out , | sea | single , | squeezed | sweating | switched from | the bell
10 the damp | we talk | 以 后 | 做 = | 让 人
15 #amount kommt | #amount 级 | +auch | +从 | +备 | +州 | , theyve | = am | actually | and his | and ~ | at my
15 beach | been our | berlin | bude , | coach has | comes | given me | has her | has shut | instead , | january
15 more | net | them to | voted | were ≈ | 了 两 | 今 年 | 八 了 | 到 三 | 四 | 提 了 | 改 ≠ | 是 = | 电 话
15 盖 又
20 ! #time | #days , | #time # | +alte | +gesagt | +high | +line | +nachbarin | +name | +pets | +selbstständig
20 +叫 | +是 | +算 | +蛋 | , cleared | , für | , were | , yes | , 老 | = done | = 才 | ^ bio | ^ der | ^ weve
20 anymore $ | baths | baths , | come = | everything | fwd | girl | hall | home N | isnt = | ist gestern | job
20 lowered | new baths | on N | on ≈ | open until | rang the | schwester $ | son | stay open | the tea | what ,
20 zwanzig | 一 直 | 不 | 两 个 | 头 | 我 又 | 戒 了 | 是 阿 | 老 板
25 #amount #amount | #amount off | #amount 一 | #date die | +aufzug | +drove | +lowered | +längst | +na | +näher
25 +stellplatz | +take | +upstairs | +大 | +改 | +须 | , bríd | , cuts | , gestern | , got | , judge | , my
25 , neighbours | , 孩 | = nachbarin | N year | ^ renamed | ^ ≠ | a young | ab #date | ab jetzt | account $
25 all my | also | am tag | and the | anything | bleibt | bríd | bríd still | came back | changed the | chocolate
25 closed | die kommen | doctors | erledigt | fair | gives | got her | hab den | honest | house #days | insurers
25 its called | judge | kunden | like the | name | neun | never = | nimmt ab | november , | ok , | on a
25 organiser | over | shipped | sick | still ≡ | stopped = | swimmings | swimmings off | the chair | the photo
25 to be | unheard | vorsitz | 了 护 | 从 这 | 他 的 | 司 | 后 都 | 弃 | 挂 | 换 = | 敏 | 新 | 沐 | 的 小 | 章
25 舅 舅 | 血
30 +beach | +books | +captain | +e | +football | +fünf | +kein | +leider | +money | +nurse | +reicht | +sheet
30 +squeezed | +wg | +why | +yesterday | +休 | +关 | +士 | +拜 | +放 | +敏 | +整 | +校 | +答 | +结 | , alles
30 , doctors | , handed | , hers | , zwei | = starts | = 摘 | N dentist | ^ coach | ^ used | ^ 又 | after ,
30 all of | and is | anything $ | bitte in | blood tests | der = | dont need | every #amount | every day
30 everywhere | eyes , | first | first time | flat | funeral | fwd to | gave | gehabt $ | got the | he = | home 无
30 home 晚 | in all | in year | its #phone | jahr | jeden | kinder | lads got | last #days | moved it | my sister
30 nach #amount | nah , | need ≈ | net , | new line | note for | now | parking | plug | replace it | ruhig ,
30 s bahn | scan | since the | skip | stands | stopped going | the account | these days | three | two now | ≠ =
30 ≡ for | 不 下 | 乐 天 | 你 一 | 天 拜 | 嫌 | 字 $ | 小 米 | 弃 了 | 我 搬 | 立 | 错 | 饭 $
35 # , | #date 搬 | #daypart , | #number the | #time ! | #titled wants | +air | +alles | +aufm | +basement
35 +bills | +bríd | +confession | +else | +endlich | +früh | +halbe | +keep | +learned | +mir | +myself | +net
35 +oben | +october | +rest | +zweimal | +合 | +够 | +女 | +必 | +眼 | +粉 | +觉 | +走 | , 从 | , 以 | = ,
35 = allergy | = cant | = 不 | N in | N more | N moved | N reicht | ^ cancelled | ^ home | ^ hundred | ^ its
35 ^ jodies | ^ kp | ^ na | ^ nicht | ^ wir | a ≠ | added a | and run | any longer | bad $ | basement | be buried
35 before $ | books | boss | bub | buried | call me | captain of | christmas , | cut it | dentist , | dort | dried
35 eating | for #number | fox , | früh = | geklatscht | geklatscht $ | gestern erste | gives me | gone on
35 halb sieben | hall is | has put | her at | home and | hundred | hundred on | i take | ideas | into | is captain
35 jetzt bei | jodies | kommt | kp | miles | mit = | mittlerweile | moans | mums $ | my new | nah | nei | neuer =
35 never | nobody | not be | nothing | of ~ | off for | ones | piece | point , | pulled the | quarter past
35 retired | rules $ | sang | schicht | schicht $ | sh | sheet for | sie mir | steht jetzt | sticks | the beach
35 the laser | the meeting | the night | the toddlers | to kill | to mums | to work | toddlers | toddlers ,
35 too many | veggie | verlegt , | walk to | was voted | was wrong | ≈ came | ≈ 那 | ≠ because | 三 万 | 下 来
35 不 得 | 了 推 | 了 是 | 产 | 人 碰 | 位 没 | 倒 | 出 | 刚 | 就 不 | 归 | 我 们 | 是 a | 留 着 | 老 头 | 肩 | 脚
35 话 了 | 负 ≈ | 边 $ | 过 =
40 #amount keep | #number verlängert | +bachgasse | +boys | +bumped | +club | +doch | +dort | +dropping | +dusted
40 +eating | +fertig | +from | +garden | +kp | +kunden | +look | +main | +miles | +mine | +moans | +müssen | +nach
40 +pickles | +supervisor | +swimmings | +wagon | +weds | +唉 | +对 | +成 | +沐 | +烂 | +由 | +瞅 | +窗 | +订
40 , bin | , cut | , had | , kein | , no | , tennis | , their | , 不 | = im | = now | = spätschicht | = up
40 = wieder | = 一 | N replaced | N verkauft | ^ everyones | ^ half | ^ he | ^ jenkins | ^ mir | ^ retired
40 ^ signed | ^ three | ^ to | ^ 从 | abgesagt | already | altogether , | and im | and take | as we | aufgehört ,
40 baby | back to | but ≈ | cancelled $ | cant , | cant face | car keys | cash | clean | cleared | comes on | d
40 daf | dance | dean | die stunde | doc | doch | ein junges | eleven | endlich | erste | every time
40 everyones moved | exactly | extension | face | fags | fete brought | finally quit | for everything | gave you
40 gewechselt | gibt | gone , | grandmother in | ha | hab ich | has sold | hes got | hob | home moved | home 到
40 i finally | i muddled | impossible | impossible $ | it goes | junges | junges paar | kannst | kid | knackered
40 left | list , | mine to | misread the | moved from | muddled | my grandmother | my job | name on | needed
40 new #amount | none | nurse $ | own bed | permanently | permanently , | publisher | refused , | reichen
40 reichen $ | rent on | room $ | rules | said , | same value | scrapped | seating | shes got | sitz | so its
40 started | starts | take back | taken the | taking | tell him | tennis is | thats the | the evening | the fags
40 the fete | the letter | the managers | the plug | the seating | the shoulder | the vote | the wedding
40 the wife | they said | to , | to come | to quarter | today baby | up , | up in | van , | verein
40 was impossible | was the | we cant | weds | were | wire | with #amount | won $ | you the | youtube | ≈ 没 | ≡
40 ≡ s | ≡ 现 | 一 的 | 不 用 | 也 不 | 也 退 | 了 #titled | 了 = | 分 了 | 刘 | 合 同 | 挪 | 看 了 | 祥 | 续
40 肩 膀 | 膀
45 #amount down | #amount from | +alone | +aufgehört | +baths | +bonfire | +border | +chest | +chicken
45 +correction | +cut | +did | +dropped | +heating | +helix | +hundred | +ideas | +much | +muddled | +organiser
45 +parking | +peace | +peanut | +poster | +price | +says | +scan | +sehn | +shes | +tausend | +unpacked | +wall
45 +whatever | +上 | +债 | +劝 | +嫌 | +胖 | +钱 | , asked | , could | , full | , ive | , rain | , sod | , with
45 , ≠ | = #number | = gets | = instead | = 今 | N begraben | N got | ^ dont | ^ gone | ^ ok | ^ sal | ^ 招
45 a balcony | a big | a job | a month | abgesagt , | account | agreed | alle = | alles | and dropped | back ,
45 balcony ? | bald | be | beat him | beautiful | begraben | begraben , | board ? | boiler ate | brought her
45 call , | come in | drin | each = | early , | egg | einschläfern | einschläfern lassen | every | finally
45 floods | football $ | forward | fuchs war | girl , | hat mich | healed | hips wont | home 静 | i bought | ich =
45 ihn im | is enough | is right | is the | jeden N | jetzt die | just = | kill | komplett | landlord | lets
45 make that | managers job | me and | measures | migration | morning and | my hips | my ≡ | myself | n | nach
45 new rules | no $ | noon | now the | nudeln | nötig | on #days | on = | on foot | own | paid | plug on | put =
45 quicker | quicker than | rowing | sal | sal quit | say | scanner | settled $ | seventy | shoulder ,
45 signed the | single | sleeping | so | so he | so thats | surgery left | table | tag , | term | that =
45 that place | thats ≡ | the bills | the manager | the sugar | there , | those , | through | thru | time this
45 to a | to october | trailers | tues , | unpacked | usual from | verlängert , | viel $ | we changed | we split
45 went , | with football | wont do | you my | zu viel | ~ me | ≠ at | ≡ gone | 人 | 人 民 | 以 | 充 | 充 电
45 别 再 | 司 #date | 周 起 | 四 十 | 国 语 | 外 国 | 天 自 | 天 起 | 始 | 婆 依 | 字 | 完 | 开 = | 开 始 | 打 了
45 招 | 推 光 | 提 | 没 动 | 现 | 话 来 | 趟 | 跟 = | 过 | 那 份
50 # and | #amount an | #amount bett | #days ! | #number is | #number now | #titled $ | +ai | +backwards | +chapel
50 +deleted | +down | +fete | +forgotten | +früher | +hard | +hob | +honest | +invites | +it | +jetz | +lasted
50 +measures | +pay | +person | +pounds | +rauf | +roof | +scanner | +shifted | +shoved | +sports | +study
50 +summer | +surgeon | +tennis | +them | +times | +toddlers | +trailers | +turned | +verkauft | +verlängert
50 +wir | +中 | +八 | +六 | +变 | +热 | +苗 | +语 | , also | , always | , and | , brother | , hab | , hard
50 , nans | , sleeping | , we | = ! | = #titled | = date | = gegessen | = 了 | ? = | N call | N can | N here
50 N stopped | ^ den | ^ die | ^ malte | ^ nimm | ^ sefton | ^ 妹 | ^ 早 | a = | abgegeben | all | alone | and my
50 and use | aufgehört | autumn , | backwards | backwards $ | because ≡ | bedtimes #number | board lowered | bones
50 broke up | brother | bus $ | by the | charge | charges ≈ | chickenpox | closed the | company works | das | days
50 der ist | dog from | donor | drin , | driver | drove | empty , | foot $ | fox | free | funeral was | gallery
50 german | go | go by | hab | haben wir | has replaced | havent unpacked | his call | home boxes | home flat
50 home hear | home keys | hot | i answer | into his | is empty | ist auf | ist leider | it ! | it backwards
50 it to | its at | itself | jan | jetzt ≈ | keine = | lamb $ | laser | lassen und | last night | line in | little
50 lowered our | malte | malte haben | mattress | me | measures ≈ | meinem N | mit der | monat | month $
50 mums home | my car | nans dancing | neuerdings | new address | nicht nötig | night | not a | not go | op
50 out over | own #amount | places $ | pub tonight | ruhig | sefton | sefton put | seit N | signed off | sister in
50 so N | so well | soooo | spring | spät | summer , | take them | the agency | the old | the whole | they give
50 theyve given | think its | this term | told | told the | tonight ? | twelves | under | under twelves
50 unpacked yet | up $ | use | verkauft und | we never | well skip | went back | were = | weve | white | wieder =
50 with an | would rather | wrong about | yesterday | zu = | ~ no | ≈ by | ≈ instead | ≈ und | ≠ not | ≡ 回 | ≡ 换
50 上 班 | 买 = | 位 改 | 光 , | 去 了 | 受 | 台 | 四 千 | 女 士 | 姓 章 | 子 | 弟 那 | 挪 去 | 接 受 | 掰 | 掰 了
50 早 章 | 期 = | 班 了 | 的 ! | 盖 | 立 早 | 说 #titled | 贫 | 贫 血 | 错 了
55 #amount last | #number at | +N | +brief | +canal | +doctor | +eggs | +elbows | +ffm | +giffgaff | +impossible
55 +insurers | +komplett | +lie | +ma | +mass | +moved | +nudeln | +one | +ouch | +parcel | +plug | +renamed
55 +renewal | +resigned | +round | +rules | +shut | +soooo | +sorry | +sub | +tage | +three | +tup | +washing
55 +zwanzig | +国 | +夫 | +布 | +水 | +涨 | +缺 | , boss | , grr | , his | , i | , 如 | , 日 | = doesnt | = for
55 = gabs | = mum | = turned | = verlegt | N again | N beim | N macht | N note | N with | ^ came | ^ gibts | ^ had
55 ^ landlords | ^ lass | ^ moved | ^ not | ^ sorry | ^ surgeon | ^ switched | ^ with | a kid | after the | also $
55 altogether | always was | anymore , | auch ≠ | back at | beside N | both of | bring | bruder , | bungalow $
55 buy the | cook tonight | den ≈ | die ≈ | discharged | do = | ever so | exactly what | feels | finally out
55 finger | first $ | gelöscht | gestorben | gestorben , | get it | gewechselt $ | go to | grr | grr $ | gruppe
55 have had | her mind | her own | home #number | home love | home 校 | home 这 | home 锡 | i = | ideas for
55 in both | it so | jetzt $ | landlords put | lass | lol , | lost ≈ | lot | may ring | measured | mind
55 mit #number | mum says | my son | nein | never ≡ | new | nicht = | nichts | no #amount | not enough | not since
55 now in | oat | off = | only ≠ | ours for | pick up | point | range | right the | robbers | round and | sagt
55 says = | says ≈ | schedule | seit dem | seit die | shes ≈ | shop with | slid to | sooner | stairlift out
55 start on | summer | switched off | tag | that one | the course | the garage | the music | the scan | tup
55 turns out | twenty | two since | um = | um fünf | up #number | us | use they | verschiebt | virgin | was after
55 with this | worked | worked , | would you | zwei tage | ~ | ~ yes | ~ 换 | übergeben | ≈ minimum | ≈ warn
55 ≠ it | ≠ offen | ≠ 发 | 不 肯 | 人 家 | 从 上 | 伙 | 单 位 | 印 | 去 外 | 又 看 | 在 ≡ | 在 操 | 大 转 | 太 太
55 女 的 | 子 一 | 子 吃 | 抱 | 气 上 | 涨 , | 白 的 | 碰 | 第 ≠ | 血 证
60 ! ≈ | #amount #number | #amount bekommen | #date 入 | +anything | +april | +armbands | +auf | +auntys | +baby
60 +board | +bought | +brauchst | +büro | +cancellation | +chickenpox | +driving | +everywhere | +extended
60 +farmhouse | +forward | +get | +half | +hers | +hips | +hören | +its | +jenkins | +kid | +liest | +measured
60 +nimm | +noon | +piece | +really | +renewed | +schlaf | +sich | +split | +tag | +transfer | +verein | +warn
60 +worden | +吉 | +四 | +往 | +折 | +拉 | +民 | +留 | +统 | +舅 | +西 | , | , den | , did | , house | , number
60 , 家 | , 推 | = are | = as | = gibt | = got | = his | = ne | = never | = wrong | = 挪 | = 散 | N live
60 N married | N only | ^ dead | ^ guess | ^ nö | ^ passed | ^ prima | ^ sold | ^ you | ^ 调 | abnahme
60 alle #amount | am #days | b , | boss is | brief | call | clean shaven | coming $ | dann sein | day #amount
60 day , | do it | doubled | everywhere $ | feb and | forward to | früh | ganze N | gave it | god rest | gone
60 gone to | habe die | haben ihn | had the | hand , | handed | her name | home here | home my | home 旁 | home 睡
60 home 边 | iphone | is da | its the | jetzt | kommt dann | land | love = | mi | mich | mind again | mine
60 muss jetzt | nee , | new router | nie wieder | no more | no point | nö | nö , | ohne | own place | owner | paar
60 passed it | please , | powers ≈ | prima | prima , | pushed | put to | read it | rest | retired , | reversed
60 several | shifted | so the | sparen | spelt | spring $ | that my | the gallery | the other | the sea
60 the train | the under | they , | to pick | told you | twenty , | us down | vegan since | verschiebt sich
60 von #amount | we pay | with ≡ | you believe | young | zum ≈ | ~ are | ≈ hour | ≈ then | ≈ today | ≠ a | ≠ as
60 ≡ to | 一 个 | 二 转 | 做 | 停 , | 去 那 | 大 二 | 家 了 | 散 | 是 人 | 欣 | 民 | 清 $ | 给 人 | 老 太 | 那 吃
60 门 口
65 #amount a | #amount early | #daypart 做 | #days and | #titled 带 | +bc | +belly | +car | +doubled | +fainted
65 +gave | +gibt | +hot | +jacked | +lead | +lets | +mums | +neun | +now | +off | +over | +plumbed | +preis
65 +project | +pulling | +sagt | +school | +shares | +spelt | +spät | +stop | +stopped | +tagged | +towbar
65 +traded | +upped | +vectron | +watch | +we | +刨 | +场 | +张 | +用 | , #amount | , bye | , going | , regular
65 , uncle | , ~ | = aufgehört | = doch | = moved | = test | = to | = war | = will | = 太 | N first | N from
65 N swapped | N who | ^ bring | ^ haben | ^ ≈ | ^ 单 | ^ 错 | a piece | already $ | als geplant | an iphone
65 and = | and i | banned | be put | because we | beer | bei = | beides | believe , | bestanden | bleiben
65 bought a | c , | card | church | come again | dem | den = | die ~ | died on | does that | finish | fire $
65 for keeps | from now | früher als | full time | garage is | gardening | geschieden | gute | h | habe
65 haben auf | had #amount | ham | has the | have changed | his bank | home month | home out | home 于 | home 读
65 ich nur | ich wieder | immer | is let | jetz bis | kauf | kitchen table | land , | leave so | little N
65 lost her | married | my badge | new number | new scan | nowt | nurse | other phone | passed = | porridge
65 presents | pushed to | put me | regular | research | said yes | same $ | same , | scan , | since #days
65 so that | steht seit | the books | the drive | the kitchen | there | these | uhr | und hab | whole =
65 works from | wrong , | year is | ~ #days | ~ it | ≠ from | ≠ left | 不 了 | 也 | 也 跟 | 到 ≠ | 区 #date | 喽
65 徒 | 徒 弟 | 我 姓 | 提 到 | 断 | 旧 , | 清 | 献 | 生 说 | 睡 | 给 | 胃 | 证 | 轻 | 过 的 | 还 给 | 闲
70 #days s | #number so | +booked | +could | +cuts | +daheim | +extension | +fair | +feb | +flat | +gibts
70 +kriegen | +operation | +owner | +passed | +plays | +politely | +pregnant | +sad | +schwester | +shell | +shop
70 +tbh | +trial | +until | +went | +摆 | +普 | +米 | , been | , mums | , saves | , surgeons | , went | = and
70 = finally | = fine | = is | = off | = 卖 | = 改 | = 涨 | = 辞 | N board | N doing | N have | N last | N please
70 ^ back | ^ gave | ^ nah | ^ nobody | abgesetzt | apixaban | auf den | bin vorige | both = | bungalow | by hand
70 bye | cancelled that | car with | caved | dem bruder | face the | firma hat | funding | gehört jetzt
70 heard most | him an | home 好 | home 李 | home 束 | home 来 | home 沙 | ich kauf | is as | is ≠ | it any
70 its ≠ | jetzt meine | job in | just ≈ | kann ich | kommt jetzt | lead | left us | letter came | main ,
70 moved out | nimmer , | of = | off it | old ones | over there | photo | piece $ | pool , | quit , | retirement
70 runs $ | saves | schon $ | second #number | so ≠ | sold $ | statt = | stay $ | the driver | the shops | the ≠
70 they changed | to ≠ | towbar car | vorige | walked , | war mir | washing | well now | white , | whole
70 zurück , | ≡ 那 | 俩 | 公 司 | 右 边 | 啦 , | 天 正 | 娃 | 散 了 | 有 我 | 游 泳 | 献 血 | 装 | 觉 $ | 谁
70 转 = | 退 | 通 了 | 都 去
75 # = | #days night | #number a | +ago | +cancelled | +changed | +contacts | +erledigt | +flights | +geworden
75 +gls | +handed | +k | +laid | +loaf | +love | +notice | +out | +places | +putting | +received | +runtergesetzt
75 +sign | +starts | +uni | +used | +wurde | +写 | +搞 | +村 | +省 | +肾 | +闲 | , doctor | , sind | = have
75 = lease | = name | = thing | = 提 | = 空 | = 跑 | ? not | ^ all | ^ doc | ^ nope | ab | after that | anymore
75 are back | bad | badge and | bei der | better , | bin jetzt | bring it | btw $ | das zu | den alten | doc took
75 e | empty | er = | erledigt , | ever again | going | her , | hob i | home last | home 近 | house is | i lost
75 i write | im in | immer ≠ | me ever | meeting , | misread | mit | my brother | new #number | nope | nope gave
75 off , | other date | ours | reeds | replaced | sein N | she was | that #number | that from | the summer
75 there is | till #number | to love | und #amount | use = | velvet | was right | weekly | ≈ babyyy | ≈ without
75 ≡ 都 | 上 周 | 了 不 | 十 五 | 厂 | 只 | 喝 白 | 回 | 头 喽 | 必 | 快 #amount | 早 | 歇 #amount
80 ! im | #amount already | #amount day | #number wohnung | #titled 给 | #titled 说 | +cancel | +caved | +crashing
80 +eleven | +end | +h | +makes | +minds | +more | +nacht | +neither | +not | +pixel | +reversed | +right | +stuff
80 +twelves | +uhr | +wrong | +停 | +刘 | +字 | +意 | +户 | +泳 | +睛 | +空 | +脚 | +重 | , nicht | , 分 | = its
80 = out | = packed | = shut | = wangled | = 的 | = 算 | N for | ^ fox | ^ went | again , | auf ≈ | binned
80 bitte , | both | budgie | das nicht | deck | done and | engineer | finish at | goes out | half | has taken
80 hat grad | heard | het | him $ | hinterm | home 州 | is in | it by | jacked in | jez ≈ | lage #number | landed
80 lassen , | live | nach dem | nach der | ner #number | new name | nimmt | office of | old for | overbooked
80 overbooked , | ran out | teacher | the bungalow | thieves | till next | to say | too much | too old | vom =
80 zweimal | ~ bleibt | ≈ $ | ≈ daiwa | ≈ days | ≈ she | 不 练 | 了 | 他 管 | 剩 我 | 医 生 | 啦 | 回 跑 | 带 $
80 弄 错 | 期 | 管 = | 练 了 | 说 ≡ | 说 啥 | 起 =
85 ! = | #amount again | #titled 休 | +abgekauft | +anymore | +bungalow | +buy | +clinic | +couple | +halved
85 +heart | +last | +lost | +mittlerweile | +nowt | +ones | +pushed | +samples | +swapped | +switched | +timo
85 +wrecked | +了 | +月 | , bought | , unbefristet | = #time | = abgesetzt | = any | = closed | = kit | = kriegt
85 = walked | N baby | N der | ^ da | ^ neue | ^ new | ^ took | address , | bei mir | damp | delivered | der hat
85 eyes | farmhouse | für immer | gehts | gekündigt | green , | haben | her boyfriend | him down | home 单 | i $
85 i eat | in , | ja ~ | laut | legs | legs , | man with | mit balkon | müssen | no ~ | noch einmal | noch ≈
85 of them | our = | plumbed | same #number | schlaf ich | sheet | swapped the | tausend | the title | the top
85 the village | this year | those | took my | yes $ | ~ #number | ~ ok | ≈ | 台 归 | 奶 回 | 我 = | 拜 | 推 到
85 源 | 被 我 | 让 | 起 | 都
90 #number #number | +abgesagt | +abgeschlossen | +checked | +died | +done | +human | +lot | +neu | +neuer
90 +niece | +nope | +nursing | +proper | +said | +schreibt | +since | +weekly | +弃 | +杭 | +江 | +练 | +自
90 , arm | , feels | , home | , meine | , ohne | , 清 | = #amount | = has | = machen | >3 | N i | N never
90 N salary | N this | ^ me | ^ ne | ^ she | ^ 产 | ^ 编 | back clear | be N | beats | cancelled | cancelled =
90 geh | h , | have left | her on | home in | in march | in november | is dead | lassen | laufen | lehre | no need
90 only #amount | opened | over , | people keep | place , | placement | sind | surgeon | that , | the extra
90 und den | year | ~ ≈ | ≈ erhöht | 万 五 | 了 合 | 学 生 | 年 ≠ | 撤 | 束 了 | 碰 $
95 +em | +erst | +finger | +habe | +instead | +iphone | +misread | +nah | +nein | +ship | +sold | +weve | +医
95 +啦 | +撤 | +散 | +白 | , by | , 外 | = mehr | = wird | ^ day | ^ on | ^ only | ^ two | card , | danke ,
95 deleted | dem = | did , | easter $ | em | empty $ | es ist | family | find ich | gar | good till | hate =
95 hochgesetzt | hour , | i like | mad , | mind $ | money $ | month = | moped | new = | new schedule | other value
95 sick of | theyve | two | umgestellt $ | what i | y | ≠ | 下 #days | 了 别 | 人 喊 | 啃 苹 | 如 今
100 +because | +dont | +dried | +enough | +hated | +letter | +nicht | +orders | +sale | +schedule | +scrapped
100 +term | +何 | +死 | +辩 | +迁 | , #titled | , im | , oat | = dont | = 三 | = 我 | = 毕 | = 那 | = 都 | ^ jacked
100 auf ≠ | dear , | down , | going back | hat sie | him on | home 多 | home 租 | ich nehm | inzwischen | january $
100 my = | schreibt sich | shut for | to #time | w = | walk | with a | überall | 不 带 | 了 现 | 我 #amount | 招 牌
100 来 电 | 碗
105 +# | +need | +strom | +充 | +员 | , 往 | = 搬 | N put | ^ binned | ^ garage | ^ 改 | ^ 是 | falsch | found a
105 fully | haben den | hockt | in charge | jetz | minds | off to | pulled | waage | zehn $ | ≈ seit | 二 = | 搞
110 +nö | +r | +squared | +veg | +傅 | , 凉 | = n | = went | ^ # | ^ das | ^ erst | ^ last | ^ neither
110 all #amount | bye = | came | contracts | die = | eggs are | fifty | from home | hand | i are | of message
110 says no | um $ | upped | with = | ≠ since | 掉 了 | 沾 | 百 $ | 的 还
115 #amount 三 | +bad | +clear | +转 | = altogether | = retired | = und | = weg | = 也 | = 昨 | N next | auch ,
115 doing = | since | split up | ≠ 就 | 口 了 | 对 面
120 ! | +bye | +fifty | = wurde | = 从 | = 八 | ^ ha | given | home finally | in on | not ≡ | only on | the =
120 week , | wird | ≡ 了
125 #amount 期 | = haben | = 上 | ^ 答 | a $ | as of | der | from this | i get | i want | left = | longer =
125 replaced = | seit | ≈ = | 咯
130 +拼 | = handed | ^ shes | air | der ≈ | from here | from today | mehr ,
135 +weg | = started | ^ = | at all | ich jetzt | put it | sie hat
140 = gone | bescheid | bin | for good | 一 趟 | 后 ≠
145 +吐 | = | = go | = 让 | ^ er | home 间 | künftig | so =
150 = hab | = hat | ^ ≡ | ^ 不 | says i | wieder ,
155 = 退 | 新 =
160 down to | home 搬 | mein = | 后 =
165 = habe | more =
170 = bin | ^ 别 | dropped = | swapped =
180 = 被 | heard lead | not = | signed
185 = kommt | this morning
195 nur noch
200 weder
260 = ist
285 share
"""
"""Weights in hundredths of a log-odds, each followed by the features that have it."""
