package io.millrace.proxy.edge;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.edge.CorsConfig;
import io.millrace.proxy.config.edge.EsiConfig;
import io.millrace.proxy.config.edge.MirrorConfig;
import io.millrace.proxy.config.edge.SplitConfig;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The settings of CORS, canary splits, mirrored requests and assembled pages (ESI) of each remap rule, by the rule's
 * index. Immutable.
 */
public final class EdgeRules {
    /** The settings of one remap rule. */
    private record RuleSettings(
            @Nullable CorsRule cors,
            @Nullable SplitRule split,
            @Nullable MirrorRule mirror,
            @Nullable EsiRule esi) {
        static final RuleSettings NONE = new RuleSettings(null, null, null, null);
    }

    private final RuleSettings[] byRule;
    private final boolean hasSeparateBranches;
    private final boolean assembles;
    private final long esiBytesMax;

    private EdgeRules(RuleSettings[] byRule, boolean hasSeparateBranches, boolean assembles, long esiBytesMax) {
        this.byRule = byRule;
        this.hasSeparateBranches = hasSeparateBranches;
        this.assembles = assembles;
        this.esiBytesMax = esiBytesMax;
    }

    /** Returns the settings of a configuration; null if no rule has any. */
    public static @Nullable EdgeRules of(ProxyConfig config) {
        List<ConfigValues> remap = config.values().elements(ConfigKeys.REMAP);
        RuleSettings[] byRule = new RuleSettings[remap.size()];
        // Most rules have equal settings of CORS, so they share one object.
        Map<CorsConfig, CorsRule> known = new HashMap<>();
        boolean isUsed = false;
        boolean hasSeparateBranches = false;
        boolean assembles = false;
        for (int i = 0; i < byRule.length; i++) {
            ConfigValues inForce = remap.get(i).over(config.values());
            CorsConfig cors = CorsConfig.from(inForce);
            SplitConfig split = SplitConfig.from(remap.get(i));
            MirrorConfig mirror = MirrorConfig.from(remap.get(i), config.values());
            EsiConfig esi = EsiConfig.from(inForce);
            boolean isSet = cors != null || split != null || mirror != null || esi != null;
            byRule[i] = isSet
                    ? new RuleSettings(
                            cors == null ? null : known.computeIfAbsent(cors, CorsRule::new),
                            split == null ? null : new SplitRule(split),
                            mirror == null ? null : new MirrorRule(mirror),
                            esi == null ? null : new EsiRule(esi))
                    : RuleSettings.NONE;
            isUsed |= isSet;
            assembles |= esi != null;
            hasSeparateBranches |= split != null && split.branches().stream().anyMatch(SplitConfig.Branch::isSeparate);
        }
        return isUsed
                ? new EdgeRules(byRule, hasSeparateBranches, assembles, EsiConfig.memoryBytesMax(config.values()))
                : null;
    }

    /**
     * Returns the CORS settings of a remap rule; null if the proxy leaves CORS to the origin.
     *
     * @param rule index of the rule; negative for none
     */
    public @Nullable CorsRule cors(int rule) {
        return of(rule).cors();
    }

    /**
     * Returns the split of a remap rule; null for none.
     *
     * @param rule index of the rule; negative for none
     */
    public @Nullable SplitRule split(int rule) {
        return of(rule).split();
    }

    /**
     * Returns the origin that gets copies of the requests of a remap rule; null for none.
     *
     * @param rule index of the rule; negative for none
     */
    public @Nullable MirrorRule mirror(int rule) {
        return of(rule).mirror();
    }

    /**
     * Returns the settings for the assembly of pages of a remap rule; null for none.
     *
     * @param rule index of the rule; negative for none
     */
    public @Nullable EsiRule esi(int rule) {
        return of(rule).esi();
    }

    /** Returns true if a rule assembles pages. */
    public boolean assemblesPages() {
        return assembles;
    }

    /** Limit of the bytes of all pages in assembly. */
    public long esiBytesMax() {
        return esiBytesMax;
    }

    /** Returns true if a branch of a split has stored responses of its own, under other cache keys. */
    public boolean hasSeparateBranches() {
        return hasSeparateBranches;
    }

    private RuleSettings of(int rule) {
        return rule >= 0 && rule < byRule.length ? byRule[rule] : RuleSettings.NONE;
    }
}
