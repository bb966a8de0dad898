package io.millrace.proxy.admin.cache;

import io.millrace.proxy.admin.cache.CurveSource.CurveView;
import io.millrace.proxy.admin.cache.CurveSource.Host;
import io.millrace.proxy.admin.cache.CurveSource.Ratio;
import io.millrace.proxy.admin.cache.CurveSource.Size;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import tools.jackson.core.JsonGenerator;

/** {@code GET /v1/cache/curve}: estimated hit ratios of other sizes of the RAM tier. Thread-safe. */
public final class CurveResource implements AdminResource {
    private final CurveSource source;

    /** Creates the resource for a source. */
    public CurveResource(CurveSource source) {
        this.source = source;
    }

    @Override
    public String method() {
        return "GET";
    }

    @Override
    public String path() {
        return "/v1/cache/curve";
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        CurveView curve = source.curve();
        if (curve == null) {
            throw new AdminException(
                    409,
                    "curve-off",
                    "hit ratios of other sizes are not estimated: cache.curve is false, or there is no RAM tier; set"
                            + " cache.curve to true");
        }
        responder.reply(AdminReply.json(json -> write(json, curve)));
    }

    private static void write(JsonGenerator json, CurveView curve) {
        json.writeStringProperty("state", curve.isReady() ? "ready" : "measuring");
        if (!curve.isReady()) {
            json.writeStringProperty("waits_for", curve.notReadyReason());
        }
        json.writeNumberProperty("since_seconds", curve.sinceSeconds());
        json.writeNumberProperty("requests_total", curve.requestsTotal());
        json.writeStringProperty("policy", curve.policy());
        json.writeNumberProperty("ram_hit_ratio", rounded(curve.ramHitRatio()));
        json.writeNumberProperty("ram_bytes", curve.ramBytes());
        json.writeNumberProperty("sample_rate", curve.sampleRate());
        json.writeNumberProperty("sampled_keys", curve.sampledKeys());
        json.writeNumberProperty("requests", curve.requests());
        json.writeNumberProperty("lost", curve.lost());
        json.writeArrayPropertyStart("sizes");
        for (Size size : curve.sizes()) {
            json.writeStartObject();
            json.writeNumberProperty("scale", size.scale());
            json.writeNumberProperty("ram_bytes", size.ramBytes());
            write(json, "current", size.current());
            write(json, "lru", size.lru());
            write(json, "s3_fifo", size.s3Fifo());
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeArrayPropertyStart("hosts");
        for (Host host : curve.hosts()) {
            json.writeStartObject();
            json.writeStringProperty("host", host.name());
            json.writeNumberProperty("requests", host.requests());
            json.writeArrayPropertyStart("hit_ratios");
            for (double ratio : host.hitRatios()) {
                json.writeNumber(rounded(ratio));
            }
            json.writeEndArray();
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void write(JsonGenerator json, String policy, Ratio ratio) {
        json.writeObjectPropertyStart(policy);
        json.writeNumberProperty("hit_ratio", rounded(ratio.requests()));
        json.writeNumberProperty("byte_hit_ratio", rounded(ratio.bytes()));
        json.writeEndObject();
    }

    /** Rounds to four decimals, that is, to a hundredth of a percentage point. */
    private static double rounded(double ratio) {
        return Math.round(ratio * 10_000) / 10_000.0;
    }
}
