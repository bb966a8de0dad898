package io.millrace.proxy.purge;

import io.millrace.proxy.caching.tags.TagList;
import io.millrace.proxy.caching.tags.TagSyntax;
import io.millrace.proxy.caching.tags.Tags;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The scope of a PURGE or BAN request, in the dialects that content management systems use with Varnish. Immutable.
 */
public sealed interface PurgeRequest {
    /** Single URLs. */
    record Urls(List<TargetUri> urls) implements PurgeRequest {}

    /** All URLs of the URL's host. */
    record Host(TargetUri url) implements PurgeRequest {}

    /** Every URL of the host whose path and query begin with those of this one. */
    record Prefix(TargetUri url) implements PurgeRequest {}

    /** Responses with one of these tags, on the site of the request's host. */
    record Tagged(Tags tags) implements PurgeRequest {}

    /** An invalid request; {@code what} has the position or the limit. */
    record Malformed(String what) implements PurgeRequest {}

    /** An unsupported request; {@code what} is the reason. */
    record Unsupported(String what) implements PurgeRequest {}

    /**
     * Fields with the scope: the first of Proxy Cache Purge and WP Rocket, the second of plugins derived from Varnish
     * Caching.
     */
    List<FieldName> METHOD_FIELDS = List.of(FieldName.of("X-Purge-Method"), FieldName.of("X-VC-Purge-Method"));

    /** Fields whose presence requests a pattern of URLs or of tags. */
    List<FieldName> BEYOND_PATHS = List.of(
            FieldName.of("X-Purge-Regex"),
            FieldName.of("X-Ban-Regex"),
            FieldName.of("X-Ban-Url"),
            FieldName.of("X-Ban-Host"),
            FieldName.of("X-Cache-Tags"),
            FieldName.of("X-Cache-Tags-Pattern"),
            FieldName.of("X-Magento-Tags-Pattern"),
            FieldName.of("X-LiteSpeed-Purge"),
            FieldName.of("Cache-Tags"));

    /** Fields that name tags, in the dialects of Fastly, Varnish's xkey and Cloudflare. */
    List<FieldName> TAG_FIELDS = List.of(
            FieldName.of("Surrogate-Key"),
            FieldName.of("xkey"),
            FieldName.of("xkey-purge"),
            FieldName.of("xkey-softpurge"),
            FieldName.of("Cache-Tag"),
            FieldName.of("Edge-Cache-Tag"));

    /** The field of a soft purge by Fastly clients. */
    FieldName SOFT_PURGE = FieldName.of("Fastly-Soft-Purge");

    /** The field of a soft purge by tag by FOSHttpCache. */
    FieldName XKEY_SOFT_PURGE = FieldName.of("xkey-softpurge");

    /** Fields with the patterns of a BAN by FOSHttpCache. */
    List<FieldName> BAN_FIELDS = List.of(FieldName.of("X-Url"), FieldName.of("X-Host"), FieldName.of("X-Content-Type"));

    /**
     * Reads a request. The path of a BAN is a prefix. Some clients expect only the equal path; a prefix includes it.
     */
    static PurgeRequest of(RequestHead request) {
        FieldSection fields = request.fields();
        boolean ban = request.method() == Method.BAN;
        FieldName beyond = firstOf(BEYOND_PATHS, fields);
        if (beyond == null && ban) {
            beyond = firstOf(BAN_FIELDS, fields);
        }
        if (beyond != null) {
            return new Unsupported(beyond.text() + " asks for a pattern or a tag");
        }
        if (firstOf(TAG_FIELDS, fields) != null) {
            return tagged(fields);
        }
        boolean pattern = ban || PurgePattern.isOne(request.target());
        for (FieldName name : METHOD_FIELDS) {
            for (int line = fields.find(name); line >= 0; line = fields.next(name, line)) {
                if (fields.valueEqualsIgnoreCase(line, "regex")) {
                    pattern = true;
                } else if (!fields.valueEqualsIgnoreCase(line, "default")
                        && !fields.valueEqualsIgnoreCase(line, "exact")) {
                    return new Unsupported(name.text() + " is none of default, exact and regex");
                }
            }
        }
        return pattern ? ofPattern(request.target()) : new Urls(urls(request.target()));
    }

    /** Returns whether the request is a soft purge. */
    static boolean isSoft(RequestHead request) {
        int line = request.fields().find(SOFT_PURGE);
        return (line >= 0 && request.fields().valueEqualsIgnoreCase(line, "1"))
                || request.fields().contains(XKEY_SOFT_PURGE);
    }

    private static PurgeRequest tagged(FieldSection fields) {
        TagList list = new TagList();
        for (FieldName name : TAG_FIELDS) {
            TagSyntax syntax = TagSyntax.of(name.text());
            for (int line = fields.find(name); line >= 0; line = fields.next(name, line)) {
                list.add(fields.bytes(), fields.valueStart(line), fields.valueEnd(line), syntax);
            }
        }
        String problem = list.problem();
        if (problem != null) {
            return new Malformed(problem);
        }
        return list.tags().isEmpty() ? new Malformed("the field of tags names none") : new Tagged(list.tags());
    }

    private static @Nullable FieldName firstOf(List<FieldName> names, FieldSection fields) {
        for (FieldName name : names) {
            if (fields.contains(name)) {
                return name;
            }
        }
        return null;
    }

    private static PurgeRequest ofPattern(TargetUri target) {
        TargetUri beginning = PurgePattern.beginning(target);
        if (beginning == null) {
            return new Unsupported("the pattern is not a path prefix");
        }
        return beginning.path().equals("/") ? new Host(beginning) : new Prefix(beginning);
    }

    /**
     * Returns the URLs that a purge of a URL covers. With the default port these are both schemes, because content
     * management systems send plain HTTP for pages that clients load over either scheme.
     */
    static List<TargetUri> urls(TargetUri target) {
        return target.isDefaultPort() ? List.of(target, target.inScheme(!target.isSecure())) : List.of(target);
    }
}
