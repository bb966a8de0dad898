package io.millrace.examples;

import io.millrace.proxy.spi.CacheKeyHook;
import io.millrace.proxy.spi.Continuation;
import io.millrace.proxy.spi.DeliverHook;
import io.millrace.proxy.spi.DeliveredResponse;
import io.millrace.proxy.spi.Extension;
import io.millrace.proxy.spi.ExtensionConfig;
import io.millrace.proxy.spi.ExtensionConfigException;
import io.millrace.proxy.spi.ExtensionContext;
import io.millrace.proxy.spi.Fields;
import io.millrace.proxy.spi.OriginRequestHook;
import io.millrace.proxy.spi.OriginRequestView;
import io.millrace.proxy.spi.RequestView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * Divides clients into variants of a site. A cookie keeps a client in its variant; a client without the cookie gets the
 * variant of its address. The variant is a part of the cache key, and the origin gets it in the field X-Variant.
 *
 * <p>Thread-safe.
 */
public final class AbTest implements Extension, CacheKeyHook, OriginRequestHook, DeliverHook {
    private static final String FIELD = "X-Variant";
    private static final Duration YEAR = Duration.ofDays(365);

    private String cookie = "";
    private String attributes = "";

    /** Sum of the shares of each variant and of all variants before it. */
    private Map<String, Long> bounds = Map.of();

    private long total;

    /** Creates an extension that is not open. */
    public AbTest() {}

    @Override
    public int apiVersion() {
        return Extension.API_VERSION;
    }

    @Override
    public String name() {
        return "ab-test";
    }

    @Override
    public String version() {
        return "1";
    }

    @Override
    public void open(ExtensionContext context) throws ExtensionConfigException {
        ExtensionConfig config = context.config();
        cookie = config.text("cookie", "variant");
        attributes = "; Path=/; Max-Age=" + config.duration("max_age", YEAR).toSeconds() + "; SameSite=Lax";
        Map<String, Long> read = new LinkedHashMap<>();
        for (ExtensionConfig variant : config.sections("variants")) {
            String name = variant.text("name");
            if (!name.matches("[A-Za-z0-9_-]{1,32}")) {
                throw variant.problem("name", "'" + name + "' is not a word of at most 32 letters, digits, - and _");
            }
            total += variant.number("share", 1, 0, 1_000_000);
            if (read.put(name, total) != null) {
                throw variant.problem("name", "'" + name + "' is a variant already");
            }
            variant.rejectOtherKeys();
        }
        config.rejectOtherKeys();
        if (total == 0) {
            throw config.problem("variants", "needs a variant with a share");
        }
        bounds = read;
    }

    @Override
    public void cacheKey(RequestView request, Parts parts) {
        parts.add(cookie + "=" + variant(request));
    }

    @Override
    public void originRequest(OriginRequestView request, Continuation<OriginRequestView> continuation) {
        request.fields().set(FIELD, variant(request.request()));
        continuation.proceed();
    }

    @Override
    public void deliver(RequestView request, DeliveredResponse response) {
        if (fromCookie(request) == null) {
            response.fields().add("Set-Cookie", cookie + "=" + variant(request) + attributes);
        }
    }

    /** Returns the variant of a request. It is the same for each request of a client, as the cache key requires. */
    private String variant(RequestView request) {
        String chosen = fromCookie(request);
        return chosen == null ? fromAddress(request) : chosen;
    }

    private @Nullable String fromCookie(RequestView request) {
        Fields fields = request.fields();
        for (int line = fields.find("Cookie"); line >= 0; line = fields.next("Cookie", line)) {
            for (String pair : pairs(fields.value(line))) {
                int equals = pair.indexOf('=');
                String value = equals < 0 ? "" : pair.substring(equals + 1);
                if (equals > 0 && pair.substring(0, equals).equals(cookie) && bounds.containsKey(value)) {
                    return value;
                }
            }
        }
        return null;
    }

    private static List<String> pairs(String value) {
        List<String> pairs = new ArrayList<>();
        int start = 0;
        for (int end = value.indexOf(';'); end >= 0; end = value.indexOf(';', start)) {
            pairs.add(value.substring(start, end).strip());
            start = end + 1;
        }
        pairs.add(value.substring(start).strip());
        return pairs;
    }

    private String fromAddress(RequestView request) {
        CRC32 hash = new CRC32();
        hash.update(request.clientAddress().getAddress());
        long position = hash.getValue() % total;
        String last = "";
        for (Map.Entry<String, Long> bound : bounds.entrySet()) {
            last = bound.getKey();
            if (position < bound.getValue()) {
                return last;
            }
        }
        return last;
    }
}
