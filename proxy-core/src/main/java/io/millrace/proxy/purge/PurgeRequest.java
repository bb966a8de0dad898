package io.millrace.proxy.purge;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a PURGE on a client listener asks for, in the dialects that content management systems speak to Varnish: which URLs are
 * meant, and what is asked beyond single URLs, which this proxy does not do.
 *
 * <p>Immutable: no state.
 */
public final class PurgeRequest {
    /** How much is to go: by Proxy Cache Purge and WP Rocket the first, by the descendants of Varnish Caching the second. */
    private static final List<FieldName> METHOD_FIELDS =
            List.of(FieldName.of("X-Purge-Method"), FieldName.of("X-VC-Purge-Method"));

    /** Fields that ask for a pattern or a tag by being there. */
    private static final List<FieldName> BEYOND_URLS = List.of(
            FieldName.of("X-Purge-Regex"),
            FieldName.of("X-Ban-Regex"),
            FieldName.of("X-Ban-Url"),
            FieldName.of("X-Ban-Host"),
            FieldName.of("X-Cache-Tags"),
            FieldName.of("X-Cache-Tags-Pattern"),
            FieldName.of("X-Magento-Tags-Pattern"),
            FieldName.of("X-LiteSpeed-Purge"),
            FieldName.of("Cache-Tags"),
            FieldName.of("Surrogate-Key"),
            FieldName.of("xkey"),
            FieldName.of("xkey-purge"),
            FieldName.of("xkey-softpurge"));

    private PurgeRequest() {}

    /**
     * The URLs that a purge of this one means. Where the port is the scheme's usual one it means both schemes: a content
     * management system asks over plain HTTP, with the site's host alone, for what clients may have got by either.
     */
    public static List<TargetUri> urls(TargetUri target) {
        return target.isDefaultPort() ? List.of(target, target.inScheme(!target.isSecure())) : List.of(target);
    }

    /** What the request asks for beyond single URLs, in a few words; null when it asks for a URL. */
    public static @Nullable String beyondUrls(RequestHead request) {
        if (request.method() == Method.BAN) {
            return "BAN asks for a pattern";
        }
        FieldSection fields = request.fields();
        for (FieldName name : METHOD_FIELDS) {
            for (int line = fields.find(name); line >= 0; line = fields.next(name, line)) {
                if (!fields.valueEqualsIgnoreCase(line, "default") && !fields.valueEqualsIgnoreCase(line, "exact")) {
                    return name.text() + " is neither default nor exact";
                }
            }
        }
        for (FieldName name : BEYOND_URLS) {
            if (fields.contains(name)) {
                return name.text() + " asks for a pattern or a tag";
            }
        }
        return isPattern(request.target()) ? "the path is a pattern" : null;
    }

    /** {@code /.*} is W3 Total Cache's word for the whole site, {@code /*} that of scripts; no page ends so. */
    private static boolean isPattern(TargetUri target) {
        byte[] bytes = target.targetBytes();
        int length = target.pathEnd() - target.pathStart();
        String path = new String(bytes, target.pathStart(), length, StandardCharsets.ISO_8859_1);
        return path.endsWith("*") || path.contains(".*");
    }
}
