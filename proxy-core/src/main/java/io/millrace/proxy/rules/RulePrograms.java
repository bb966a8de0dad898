package io.millrace.proxy.rules;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.rules.RuleConfig;
import io.millrace.proxy.config.rules.RulesConfig;
import io.millrace.proxy.remap.Mapped;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The rule programs of a configuration, one for each remap rule. Immutable. */
public final class RulePrograms {
    private final RuleProgram general;
    private final List<RuleProgram> byRemap;

    private RulePrograms(RulesConfig rules) {
        general = RuleProgram.of(rules.general(), List.of());
        List<RuleProgram> programs = new ArrayList<>();
        for (List<RuleConfig> ofRemapRule : rules.byRemap()) {
            programs.add(ofRemapRule.isEmpty() ? general : RuleProgram.of(rules.general(), ofRemapRule));
        }
        byRemap = List.copyOf(programs);
    }

    /** Returns the programs of a configuration; null if it has no rules. */
    public static @Nullable RulePrograms of(ProxyConfig config) {
        return config.rules().isEmpty() ? null : new RulePrograms(config.rules());
    }

    /** The program for requests that no remap rule maps. */
    public RuleProgram general() {
        return general;
    }

    /** Returns the program for a mapped request. */
    public RuleProgram of(Mapped mapped) {
        int index = mapped.rule().index();
        return index < byRemap.size() ? byRemap.get(index) : general;
    }
}
