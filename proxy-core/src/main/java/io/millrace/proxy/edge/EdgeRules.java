package io.millrace.proxy.edge;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.edge.CorsConfig;
import io.millrace.proxy.config.edge.MirrorConfig;
import io.millrace.proxy.config.edge.SplitConfig;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.tls.OriginTlsConfig;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The settings of CORS, canary splits and mirrored requests for each remap rule. Immutable. */
public final class EdgeRules {
    /** The settings of one remap rule. */
    private record Edge(
            @Nullable CorsRule cors,
            @Nullable SplitRule split,
            @Nullable MirrorRule mirror) {
        static final Edge NONE = new Edge(null, null, null);
    }

    private final Edge[] byRule;
    private final boolean divides;

    private EdgeRules(Edge[] byRule, boolean divides) {
        this.byRule = byRule;
        this.divides = divides;
    }

    /** Returns the settings of a configuration; null if no rule has any. */
    public static @Nullable EdgeRules of(ProxyConfig config) {
        List<ConfigValues> remap = config.values().elements(ConfigKeys.REMAP);
        Edge[] byRule = new Edge[remap.size()];
        // Most rules have equal settings of CORS.
        Map<CorsConfig, CorsRule> known = new HashMap<>();
        OriginTlsConfig.Context context = OriginTlsConfig.from(config.values()).context();
        boolean isUsed = false;
        boolean divides = false;
        for (int i = 0; i < byRule.length; i++) {
            ConfigValues inForce = remap.get(i).over(config.values());
            CorsConfig cors = CorsConfig.from(inForce);
            SplitConfig split = SplitConfig.from(remap.get(i));
            MirrorConfig mirror = MirrorConfig.from(inForce);
            boolean isSet = cors != null || split != null || mirror != null;
            byRule[i] = isSet
                    ? new Edge(
                            cors == null ? null : known.computeIfAbsent(cors, CorsRule::new),
                            split == null ? null : new SplitRule(split),
                            mirror == null ? null : new MirrorRule(mirror, context))
                    : Edge.NONE;
            isUsed |= isSet;
            divides |= split != null && split.branches().stream().anyMatch(SplitConfig.Branch::isSeparate);
        }
        return isUsed ? new EdgeRules(byRule, divides) : null;
    }

    /**
     * Returns the CORS fields of a remap rule; null if this proxy does not answer for CORS.
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

    /** Returns true if a split divides the stored responses of a URL. */
    public boolean dividesKeys() {
        return divides;
    }

    private Edge of(int rule) {
        return rule >= 0 && rule < byRule.length ? byRule[rule] : Edge.NONE;
    }
}
