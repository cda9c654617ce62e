"""The words that the lexicon knows: about 870, Chinese and English, in three grades for each of the seven dimensions.

Our own list (MIT, with the program), put together word by word; nothing is taken from a published lexicon. Anger and
disgust are left out: none of the seven dimensions is theirs. A word goes where it is said of a mood in most of its
uses; one that mostly means something else (怕, 甜, 爽, blue, down, love, content) is here only within longer phrases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Strength of a word with nothing around it.
MILD, PLAIN, STRONG = 0.4, 0.6, 0.8

#: dimension -> strength -> words with spaces between; simplified characters (see TRADITIONAL).
CHINESE: Mapping[str, Mapping[float, str]] = {
    "happy": {
        MILD: """
            满意 满足 期待 有趣 好玩 笑了 微笑 自豪 骄傲 得意 庆幸 舒畅 轻快 开怀 欣慰 过瘾 带劲 好笑 来劲 哈哈
            嘻嘻 有意思 松快 知足 如愿 称心 顺心
        """,
        PLAIN: """
            开心 高兴 快乐 愉快 欢喜 欢乐 喜悦 欣喜 惊喜 兴奋 激动 乐了 大笑 欢快 快活 幸福 雀跃 畅快 痛快 笑容
            喜滋滋 乐呵呵 笑嘻嘻 美滋滋 乐滋滋 笑眯眯 笑开了花 好心情 心情好 心情不错 心情很好 心情特别好
            心情非常好 心情真好 太爽了 好爽 真爽 哈哈哈 好棒 太棒了 太好了 真好玩
        """,
        STRONG: """
            狂喜 欣喜若狂 兴高采烈 心花怒放 喜出望外 手舞足蹈 眉开眼笑 欢天喜地 喜极而泣 乐坏 乐开了花 乐疯
            高兴坏 开心坏 欢呼 热泪盈眶 笑出了声 笑得合不拢嘴 合不拢嘴 激动得哭了 高兴得哭了 开心得哭了 笑哭
            欢欣鼓舞 大喜过望
        """,
    },
    "calm": {
        MILD: """
            放心 安静 舒服 惬意 悠闲 清静 冷静 淡然 从容 自在 舒坦 安稳 稳当 镇定 清闲 闲适 舒心 松弛
        """,
        PLAIN: """
            平静 宁静 安心 放松 踏实 淡定 安宁 平和 沉静 安详 恬静 坦然 释然 心安 轻松 松了口气 松了一口气
            松一口气 静下心来 静下来 平复 无忧 安逸 安然
        """,
        STRONG: """
            心平气和 心如止水 岁月静好 无忧无虑 平心静气 气定神闲 心静如水
        """,
    },
    "sweet": {
        MILD: """
            温暖 暖心 感动 感激 亲切 温柔 体贴 害羞 脸红 心动 牵手 牵着手 依恋 贴心 暖洋洋 抱抱 亲近 亲昵 暖暖的
        """,
        PLAIN: """
            甜蜜 温馨 浪漫 恩爱 宠爱 撒娇 依偎 甜甜的 好甜 真甜 心里甜 心里很甜 心里一暖 心里暖 心头一暖 拥抱
            心里暖暖 甜滋滋 甜丝丝 喜欢你 爱着你 爱上了 疼爱 相爱 热恋 小鹿乱撞 怦然心动 被爱 爱意 暖流 宠溺
            亲了我 亲了他 亲了她 抱住我 抱了我
        """,
        STRONG: """
            我爱你 好爱你 最爱你 爱死你 甜到心里 甜进心里 甜炸 深爱 如胶似漆 浓情蜜意 爱得深
        """,
    },
    "heartache": {
        MILD: """
            可怜 不舍 不忍 不忍心 舍不得 怜悯 同情 怜惜 揪心 唏嘘 怪可怜 受苦了 辛苦了
        """,
        PLAIN: """
            心疼 心酸 心痛 怜爱 于心不忍 看着难受 替他难过 替她难过 为他难过 为她难过 替你难过 鼻子一酸 鼻子发酸
            心里发酸 鼻酸 心里一疼 心里一酸 心头一酸 痛惜 疼惜 揪着心
        """,
        STRONG: """
            心如刀割 心如刀绞 痛彻心扉 心都碎了 撕心裂肺 心疼坏 心疼死 肝肠寸断 万箭穿心
        """,
    },
    "worry": {
        MILD: """
            犹豫 不确定 忐忑 顾虑 纠结 生怕 怕自己 我怕 好怕 有点怕 紧张 迷茫 着急 操心 发怵 没底 没把握 惦记
            挂念 牵挂 压力大 压力很大 压力好大 可怕
        """,
        PLAIN: """
            担心 担忧 忧虑 焦虑 不安 害怕 恐惧 发愁 犯愁 焦急 心慌 慌张 发慌 慌了 惊慌 烦恼 忧愁 愁眉 心神不宁
            坐立不安 七上八下 吓到 吓了一跳 睡不着 捏把汗 捏一把汗 后怕 怯场 胆怯 心虚 畏惧 心烦意乱 烦躁 烦心
            焦躁 惶恐 心事重重 失眠了 急得团团转 忧心 揪着一颗心 放心不下 没有安全感 没安全感 怕极了 心急如焚
            提着心
        """,
        STRONG: """
            恐慌 惊恐 忧心忡忡 提心吊胆 心惊胆战 心惊肉跳 惶惶不安 焦头烂额 吓坏 吓死 急死 愁死 担心死 担心坏
            怕得发抖 惶恐不安 崩溃边缘 六神无主 慌得不行 毛骨悚然 忧心如焚
        """,
    },
    "sad": {
        MILD: """
            失望 遗憾 可惜了 无奈 低落 惆怅 失落 怀念 想念 思念 懊悔 后悔 内疚 愧疚 自责 沮丧 气馁 泄气 郁闷
            憋屈 想家 无助 心累 好累 闷闷的 落寞 苦涩 酸楚 感伤 灰心 心凉 心寒 扫兴 心情差 心情不好 心情很差
            心情低落 心情糟 消沉 丧气 惋惜
        """,
        PLAIN: """
            难过 伤心 悲伤 难受 忧伤 忧郁 孤独 寂寞 孤单 委屈 哭了 想哭 哭泣 流泪 眼泪 落泪 掉眼泪 哭着 大哭
            哭过 难熬 心塞 抑郁 压抑 闷闷不乐 郁郁寡欢 心里堵 心里难受 心里不好受 心里不是滋味 不是滋味 黯然
            消极 伤感 悲凉 凄凉 心灰意冷 垂头丧气 强颜欢笑 苦闷 哀愁 悲哀 眼眶红了 红了眼眶 眼圈红了 泪目 痛苦
            抹眼泪 提不起劲 心碎 哽咽 苦笑 空落落
        """,
        STRONG: """
            绝望 悲痛 痛哭 哭死 崩溃 伤心欲绝 悲痛欲绝 痛不欲生 泣不成声 嚎啕大哭 号啕大哭 以泪洗面 万念俱灰
            生无可恋 悲伤欲绝 哭得 泪流满面 难过死 伤透了心 哭了一夜 痛心疾首 哀痛 生不如死 心死 黯然神伤
        """,
    },
    "jealous": {
        MILD: """
            羡慕 眼红 酸了 好酸 眼馋 不服气 攀比
        """,
        PLAIN: """
            吃醋 嫉妒 妒忌 醋意 酸溜溜 吃他的醋 吃她的醋 吃你的醋 吃我的醋 吃干醋 吃飞醋 醋坛子 占有欲 忌妒 泛酸
            心里酸 羡慕嫉妒 心里发堵 争宠 眼热
        """,
        STRONG: """
            妒火 嫉恨 妒恨 羡慕嫉妒恨 醋意大发 嫉妒得发狂 打翻了醋坛子 打翻醋坛子 妒火中烧 嫉妒死
        """,
    },
}

#: The same in English, casefolded; `_` stands for the space inside a phrase.
ENGLISH: Mapping[str, Mapping[float, str]] = {
    "happy": {
        MILD: """
            glad pleased pleasant satisfied satisfying amused amusing proud hopeful enjoyed enjoying enjoyable
            smiled smiling laughed laughing laughter haha can't_wait cant_wait looking_forward grateful thankful
            good_mood in_good_spirits upbeat lighthearted
        """,
        PLAIN: """
            happy happier happily happiness joy joyful joyous cheerful cheered delighted delight delightful
            excited exciting excitement merry gleeful jolly fun great_mood tears_of_joy cried_with_joy
            crying_with_joy blissful rejoiced hooray yay had_a_blast made_my_day
        """,
        STRONG: """
            thrilled overjoyed ecstatic elated euphoric exhilarated jubilant happiest over_the_moon
            on_cloud_nine couldn't_be_happier could_not_be_happier couldnt_be_happier best_day_ever
            walking_on_air never_been_happier never_felt_happier
        """,
    },
    "calm": {
        MILD: """
            quiet comfortable cozy cosy unhurried composed settled at_ease rested easygoing carefree
        """,
        PLAIN: """
            calm calmer calmly calmness peaceful peacefully peace_of_mind relaxed relaxing relieved relief
            serene serenity tranquil tranquility soothed soothing at_peace unworried unwound
        """,
        STRONG: """
            calmest inner_peace
        """,
    },
    "sweet": {
        MILD: """
            touched touching moved_to_tears fond fondly warmth tender tenderly tenderness shy blushed blushing
            cute caring miss_your_smile heartwarming affection
        """,
        PLAIN: """
            sweet sweetest sweetly sweetheart affectionate romantic cuddle cuddled cuddling hugged hugging hugs
            kissed kissing kisses in_love loving lovingly adore adored adores adorable darling cherished cherish
            butterflies_in_my_stomach held_my_hand holding_hands held_hands smitten crush_on
        """,
        STRONG: """
            i_love_you love_you_so_much madly_in_love deeply_in_love head_over_heels love_of_my_life
        """,
    },
    "heartache": {
        MILD: """
            pity pitied poor_thing poor_guy poor_girl compassion feel_for_him feel_for_her feel_for_them
            feel_sorry_for felt_sorry_for hate_to_see_him hate_to_see_her hate_to_see_them
        """,
        PLAIN: """
            heartache heartaches aching_heart heart_aches heart_ached heart_goes_out heart_went_out heart_hurts
            heart_sank lump_in_my_throat sympathy hurts_to_see pains_me painful_to_watch
        """,
        STRONG: """
            heartrending heart-rending heartwrenching heart-wrenching gut-wrenching heart_breaks_for
            breaks_my_heart broke_my_heart breaking_my_heart
        """,
    },
    "worry": {
        MILD: """
            nervous nervously tense unsure uncertain hesitant apprehensive unsettled concerned_about
            concerned_for doubtful jittery restless under_pressure can't_sleep cant_sleep couldn't_sleep
        """,
        PLAIN: """
            worry worries worried worrying worrisome anxious anxiously anxiety afraid fear fears feared fearful
            scared scary frightened frightening uneasy unease stressed stressful stressing on_edge distressed
            dread dreaded dreading overwhelmed insecure fretting fretted troubled spooked
        """,
        STRONG: """
            terrified terrifying terror panic panicked panicking panicky petrified horrified worried_sick
            scared_to_death frantic panic_attack freaking_out freaked_out at_my_wits'_end
        """,
    },
    "sad": {
        MILD: """
            disappointed disappointing disappointment regret regrets regretted regretful gloomy glum melancholy
            melancholic nostalgic discouraged let_down homesick miss_you miss_him miss_her miss_them missing_you
            missing_him missing_her bad_mood feeling_down feel_down felt_down feeling_blue feel_blue felt_blue
            feeling_low felt_low guilty remorse wistful bummed
        """,
        PLAIN: """
            sad sadder sadly sadness saddened unhappy unhappily unhappiness upset lonely loneliness cry cried
            crying cries tears weep wept weeping sob sobbed sobbing sorrow sorrowful mournful mourning grieving
            grief miserable dejected downcast down_in_the_dumps hurting feel_empty felt_empty tearful teary
        """,
        STRONG: """
            saddest depressed depressing depression heartbroken heartbreak heartbreaking heart-broken
            broken_heart devastated devastating hopeless despair despairing desperate anguish misery
            inconsolable cried_my_eyes_out bawling
        """,
    },
    "jealous": {
        MILD: """
            envy envied envies possessive begrudge covet
        """,
        PLAIN: """
            jealous jealously jealousy envious enviously green_with_envy
        """,
        STRONG: """
            insanely_jealous eaten_up_with_envy consumed_by_jealousy mad_with_jealousy
        """,
    },
}

#: What holds such a word and speaks of something else: greetings, names, food, terms.
FALSE_FRIENDS = """
    开心果 开心农场 开心麻花 开心消消乐 快乐水 快乐星球 快乐大本营 快乐家族 快乐男声 快乐女声 生日快乐 新年快乐
    节日快乐 圣诞快乐 新春快乐 春节快乐 中秋快乐 元旦快乐 元宵快乐 端午快乐 国庆快乐 儿童节快乐 母亲节快乐
    父亲节快乐 情人节快乐 教师节快乐 节快乐 周末愉快 旅途愉快 合作愉快 工作愉快 假期愉快 难过关 很难过去
    难过得去 过不去的坎 兴奋剂 兴奋性 激动剂 紧张性 紧张素 血管紧张素 冷静期 冷静下单 安宁市 安宁区 安宁疗护
    安静模式 平静海 幸福路 幸福街 幸福村 幸福里 幸福小区 幸福大街 幸福院 吃醋溜 吃醋泡 爱吃醋泡 吃醋拌 甜蜜素
    浪漫主义 浪漫派 心动过速 心动过缓 心动图 心动周期 放心肉 放心菜 放心早餐 放心保 系统崩溃 程序崩溃 服务器崩溃
    软件崩溃 崩溃日志 崩溃报告 崩溃率 骄傲自满 满意度 满足条件 满足要求 满足需求 满足了条件 不满足条件 放松管制
    放松政策 轻松筹 期待值 泪腺 供应紧张 资金紧张 时间紧张 关系紧张 住房紧张 人手紧张 拥抱变化 微笑服务 温暖化
    抑郁症量表 温柔乡 happy_birthday happy_new_year happy_hour happy_path happy_meal happy_christmas
    happy_easter happy_holidays happy_thanksgiving happy_anniversary trigger_happy happy_to_help sweet_potato
    sweet_potatoes sweet_tooth sweet_spot sweet_corn sweet_pea sweet_peas sweet_tea sweet_pepper sweet_peppers
    sweet_wine sweet_and_sour short_and_sweet home_sweet_home sweet_basil calm_down no_worries no_worry
    stress_test cry_wolf far_cry war_cry crying_out_loud i'm_afraid_i i'm_afraid_that i'm_afraid_so
    i'm_afraid_not i'm_afraid_we i'm_afraid_there i'm_afraid_it past_tense present_tense future_tense
    great_depression depression_era tropical_depression quiet_mode quiet_flag quiet_option
    panic_button kernel_panic panic_room relief_map relief_fund tax_relief comic_relief fun_fact fun_facts
    settled_on settled_in settled_down fear_of_missing_out for_fear_of tender_offer guilty_pleasure not_guilty
    found_guilty plead_guilty pleaded_guilty
"""

#: Traditional characters of the words above, one for one, so that places in the text stay what they are.
TRADITIONAL = str.maketrans(
    "開興難過擔傷憂慮緊張驚樂歡愛靜寧淚滿憐憫鬆沒嫉熱戀顧糾結著壓確豫慘懷懊愧責喪氣餒鬱悶憋無謝絕適靦暖寵嬌攜溫馨"
    "觸動貼臉紅對甜蜜淨閒愜從穩鎮淡詳釋輕復臨慌張煩惱懼恐嚇躁處團轉烏雲濃疼酸獨單寂寞委還哭點們恥勵盡別會覺",
    "开兴难过担伤忧虑紧张惊乐欢爱静宁泪满怜悯松没嫉热恋顾纠结着压确豫惨怀懊愧责丧气馁郁闷憋无谢绝适腼暖宠娇携温馨"
    "触动贴脸红对甜蜜净闲惬从稳镇淡详释轻复临慌张烦恼惧恐吓躁处团转乌云浓疼酸独单寂寞委还哭点们耻励尽别会觉",
)
