package io.millrace.proxy.extension;

import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.remap.RemapRule;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The hooks of each remap rule of one configuration. Immutable. */
public final class HookChains {
    private final List<LoadedExtension> all;
    private final @Nullable HookChain[] byRule;

    HookChains(List<LoadedExtension> all, List<RemapRuleConfig> rules) {
        this.all = List.copyOf(all);
        byRule = new HookChain[rules.size()];
        for (int i = 0; i < byRule.length; i++) {
            byRule[i] = chain(rules.get(i));
        }
    }

    private @Nullable HookChain chain(RemapRuleConfig rule) {
        List<LoadedExtension> extensions = new ArrayList<>();
        for (LoadedExtension one : all) {
            if (one.entry().rules().test(rule)) {
                extensions.add(one);
            }
        }
        return HookChain.of(extensions);
    }

    /** Returns true if an extension adds parts to cache keys. */
    public boolean changesKeys() {
        return all.stream().anyMatch(one -> one.hooks().contains(Hook.CACHE_KEY));
    }

    /** Returns the chain of a rule; null if its requests call no hook. */
    public @Nullable HookChain of(RemapRule rule) {
        int index = rule.index();
        return index >= 0 && index < byRule.length ? byRule[index] : chain(rule.config());
    }
}
