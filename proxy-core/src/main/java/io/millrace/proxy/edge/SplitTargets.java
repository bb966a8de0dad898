package io.millrace.proxy.edge;

import io.millrace.proxy.config.edge.SplitConfig;
import io.millrace.proxy.remap.Mapped;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A cache of the remap results for the branches of splits. Each result is a rule with the origin of one branch. It is
 * limited to the {@value #RULES_MAX} results that were used last, because a rule with a host expression has a result
 * for each requested host. Branches are built at their first use.
 *
 * <p>Confined to one event loop.
 */
public final class SplitTargets {
    private static final int RULES_MAX = 256;

    private final Map<Mapped, Mapped[]> byRule = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Mapped, Mapped[]> eldest) {
            return size() > RULES_MAX;
        }
    };

    /** Returns the rule with the origin of a branch, and with its own cache keys if the branch is separate. */
    public Mapped of(Mapped rule, SplitRule split, int branch) {
        Mapped[] known = byRule.get(rule);
        if (known == null) {
            known = split.branches().stream().map(each -> target(rule, each)).toArray(Mapped[]::new);
            byRule.put(rule, known);
        }
        return known[branch];
    }

    private static Mapped target(Mapped rule, SplitConfig.Branch branch) {
        return rule.rule().branch(branch.name(), branch.to(), branch.origins(), branch.isSeparate());
    }
}
