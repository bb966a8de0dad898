package io.millrace.proxy.purge;

import com.google.re2j.PatternSyntaxException;
import io.millrace.proxy.caching.tags.TagList;
import io.millrace.proxy.caching.tags.TagSyntax;
import io.millrace.proxy.caching.tags.Tags;
import io.millrace.proxy.config.value.Regex;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The parsed scope of a PURGE or BAN request. Understands the fields that content management systems send to
 * Varnish and other caches. Immutable.
 */
public sealed interface PurgeRequest {
    /** Single URLs. */
    record Urls(List<TargetUri> urls) implements PurgeRequest {}

    /** All URLs of the URL's host. */
    record Host(TargetUri url) implements PurgeRequest {}

    /** All URLs of the host that begin with this URL. */
    record Prefix(TargetUri url) implements PurgeRequest {}

    /** Responses with one of these tags, on the site of the request's host. */
    record Tagged(Tags tags) implements PurgeRequest {}

    /**
     * Responses of the URL's host for which a condition is true.
     *
     * @param url the URL of the request with the path {@code /}
     * @param condition an expression over stored responses; empty for all
     * @param regexes the regular expressions of the request, by the name of their field; not checked yet
     * @param listed the tags, if the condition only lists tags; else null
     * @param beginning a URL, if the condition only says that URLs begin with it; else null. If the purge is restricted
     *     to one site, it is executed as a purge of this host or prefix, not as a purge by pattern
     */
    record Matching(
            TargetUri url,
            String condition,
            Map<String, String> regexes,
            @Nullable ListedTags listed,
            @Nullable TargetUri beginning)
            implements PurgeRequest {
        /**
         * Compiles the regular expressions, which takes milliseconds. Returns the problem of the first invalid
         * expression; null for none.
         */
        public @Nullable String problem() {
            for (Map.Entry<String, String> regex : regexes.entrySet()) {
                try {
                    Regex.compile(regex.getValue());
                } catch (PatternSyntaxException e) {
                    return regex.getKey() + ": " + e.getMessage();
                }
            }
            return null;
        }

        /** Returns true if the condition holds for every response. */
        public boolean isEverything() {
            return condition.isEmpty();
        }

        /**
         * Returns the complete expression over stored responses. At least one host or a condition must be given.
         *
         * @param hosts hosts, as in cache keys, to which the purge is restricted; empty for all hosts
         */
        public String expression(Set<String> hosts) {
            List<String> parts = new ArrayList<>();
            if (!hosts.isEmpty()) {
                List<String> literals = hosts.stream().map(Expression::literal).toList();
                parts.add("host in (" + String.join(", ", literals) + ")");
            }
            if (!condition.isEmpty()) {
                parts.add(condition);
            }
            return String.join(" && ", parts);
        }
    }

    /**
     * The tags in an expression that only lists tags.
     *
     * @param tags the tags; {@link TagList#problem} names an exceeded limit
     * @param responseField the response field with which the expression is compared
     */
    record ListedTags(TagList tags, String responseField) {}

    /** An invalid request; {@code what} names the fault. */
    record Malformed(String what) implements PurgeRequest {}

    /** An unsupported request; {@code what} is the reason. */
    record Unsupported(String what) implements PurgeRequest {}

    /**
     * Fields that contain the kind of scope. The WordPress plugins Proxy Cache Purge and WP Rocket send the first
     * field. Plugins derived from Varnish Caching send the second field.
     */
    List<FieldName> METHOD_FIELDS = List.of(FieldName.of("X-Purge-Method"), FieldName.of("X-VC-Purge-Method"));

    /** The reason why a literal path is refused. */
    String BACKSLASH = "the path has a backslash, but is not an expression";

    /** The field of LiteSpeed servers, which is not supported. */
    FieldName LITE_SPEED = FieldName.of("X-LiteSpeed-Purge");

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

    /**
     * Parses a request. The path of a BAN is a prefix. Some clients mean only the URL with exactly this
     * path, which the purge of the prefix covers too.
     */
    static PurgeRequest of(RequestHead request) {
        PurgeRequest parsed = parse(request);
        boolean isLiteral = parsed instanceof Urls || parsed instanceof Prefix;
        return isLiteral && request.target().path().indexOf('\\') >= 0 ? new Malformed(BACKSLASH) : parsed;
    }

    private static PurgeRequest parse(RequestHead request) {
        FieldSection fields = request.fields();
        boolean ban = request.method() == Method.BAN;
        if (fields.contains(LITE_SPEED)) {
            return new Unsupported(LITE_SPEED.text() + " is a field of responses");
        }
        PurgeRequest byPattern = request.method() == Method.PURGEKEYS ? null : PatternFields.of(request, ban);
        if (byPattern != null) {
            return byPattern;
        }
        if (firstOf(TAG_FIELDS, fields) != null) {
            return tagged(fields);
        }
        if (request.method() == Method.PURGEKEYS) {
            return new Malformed("PURGEKEYS has no field of tags, such as xkey-purge");
        }
        boolean pattern = ban || PurgePattern.hasWildcard(request.target());
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
        if (ban && request.target().pathAndQuery().equals("/")) {
            // A BAN without a condition purges the host, or every site if the host is the address of the cache.
            return PatternFields.ofAll(request.target());
        }
        return pattern ? ofPattern(request.target()) : new Urls(urls(request.target()));
    }

    /** Returns true if the request is a soft purge. */
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
        return list.tags().isEmpty() ? new Malformed("the field of tags contains no tag") : new Tagged(list.tags());
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
        if (target.hasQuery() && PurgePattern.isExpression(target)) {
            return PatternFields.ofPath(target);
        }
        if (target.hasQuery()) {
            return new Unsupported("a prefix has no query; for a pattern with a query send X-Ban-Url with \\? in it");
        }
        TargetUri beginning = PurgePattern.beginning(target);
        if (beginning == null) {
            return PatternFields.ofPath(target);
        }
        return beginning.path().equals("/") ? new Host(beginning) : new Prefix(beginning);
    }

    /**
     * Returns the URLs that a purge of one URL covers. With the default port, these are the URLs of both schemes:
     * content management systems send purges over plain HTTP, while clients load the pages over http or https.
     */
    static List<TargetUri> urls(TargetUri target) {
        return target.isDefaultPort() ? List.of(target, target.inScheme(!target.isSecure())) : List.of(target);
    }
}
