package io.millrace.proxy.explain;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.edge.CorsConfig;
import io.millrace.proxy.config.edge.EsiConfig;
import io.millrace.proxy.config.edge.MirrorConfig;
import io.millrace.proxy.config.edge.SplitConfig;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.RequestHead;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Describes in text the CORS fields of a response, the branch of a canary split, the copies of requests, and the
 * assembly of pages. Immutable.
 *
 * @param rule index of the remap rule; negative for none
 * @param branch name of the branch of the canary split; null for the rule's own origin
 */
record EdgeText(
        ProxyConfig config,
        RequestHead request,
        int rule,
        @Nullable String branch) {
    /** Adds the steps of the description to {@code steps}. */
    void addTo(FreshnessText.Steps steps) {
        List<ConfigValues> remap = config.values().elements(ConfigKeys.REMAP);
        CorsConfig cors = rule < 0 || rule >= remap.size()
                ? null
                : CorsConfig.from(remap.get(rule).over(config.values()));
        if (cors != null) {
            steps.step("cors", cors(cors), "cors.origins");
        }
        SplitConfig split = rule < 0 || rule >= remap.size() ? null : SplitConfig.from(remap.get(rule));
        if (split != null) {
            steps.step("split", split(split), "remap[" + rule + "].split");
        }
        MirrorConfig mirror =
                rule < 0 || rule >= remap.size() ? null : MirrorConfig.from(remap.get(rule), config.values());
        if (mirror != null) {
            steps.step("mirror", mirror(mirror), "mirror.to");
        }
        EsiConfig esi = rule < 0 || rule >= remap.size()
                ? null
                : EsiConfig.from(remap.get(rule).over(config.values()));
        if (esi != null) {
            steps.step("esi", esi(esi), "esi.when");
        }
    }

    private String esi(EsiConfig esi) {
        return "a page is assembled if the response "
                + (esi.when() == EsiConfig.When.ALWAYS ? "is text/html or " : "")
                + "has Surrogate-Control: content=\"ESI/1.0\", with up to "
                + esi.includesMax() + " fragments on " + esi.depthMax() + " levels; all pages"
                + " in assembly together hold at most "
                + EsiConfig.memoryBytesMax(config.values()) + " bytes (limits.memory_esi), further pages get 503";
    }

    private static String mirror(MirrorConfig mirror) {
        return "if the request goes to an origin"
                + (mirror.bodies() ? "" : " and has no content")
                + ", "
                + mirror.to().authority()
                + " gets a copy of "
                + (mirror.sample() >= 1 ? "it" : ValueType.PERCENT.format(mirror.sample()) + " of such requests");
    }

    private String split(SplitConfig split) {
        for (SplitConfig.Branch each : split.branches()) {
            if (each.name().equals(branch)) {
                return "branch " + branch + (each.isSeparate() ? ", with its own stored responses" : "");
            }
        }
        return "the rule's own origin";
    }

    private String cors(CorsConfig cors) {
        String origin = request.fields().get(FieldName.ORIGIN);
        if (origin == null) {
            return cors.isAny()
                    ? "scripts of all origins may read the answer"
                    : "the request has no Origin, so the answer permits no script";
        }
        return "scripts of " + origin + (cors.allows(origin) ? " may read the answer" : " may not read the answer")
                + (cors.credentials() ? "; permitted origins may send credentials" : "");
    }
}
