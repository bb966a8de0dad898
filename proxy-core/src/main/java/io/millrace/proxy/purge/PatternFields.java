package io.millrace.proxy.purge;

import com.google.re2j.Pattern;
import io.millrace.proxy.caching.tags.TagList;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads purges by pattern from the request fields that clients of Varnish send. Each field contains a regular
 * expression for a part of stored responses. A response is purged if all fields of the request match.
 *
 * <pre>
 *   X-Ban-Url, X-Ban-Regex, X-Ban-Regexp, X-Purge-Regex;
 *   X-Url of BAN                                                path and query
 *   X-Ban-Host, X-Purge-Host; X-Host of BAN                     host
 *   X-Ban-Content-Type, X-Purge-Content-Type; X-Content-Type    Content-Type
 *   X-Magento-Tags-Pattern, X-Cache-Tags-Pattern, X-Cache-Tags,
 *   Cache-Tags, Purge-Cache-Tags, ApiPlatform-Ban-Regex         response field with tags
 * </pre>
 *
 * <p>With the value {@code url}, the field X-Ban-Method makes X-Ban-Url an exact path and query.
 *
 * <p>An instance is confined to one call. The static methods are thread-safe.
 */
final class PatternFields {
    /** An expression that matches everything. Clients send it in place of a missing condition. */
    private static final String ANY = ".*";

    private static final String TYPE_FIELD = "header[\"Content-Type\"]";

    private static final FieldName PURGE_REGEX = FieldName.of("X-Purge-Regex");
    private static final FieldName BAN_URL = FieldName.of("X-Ban-Url");
    private static final FieldName BAN_METHOD = FieldName.of("X-Ban-Method");

    private static final List<FieldName> TARGET =
            List.of(PURGE_REGEX, BAN_URL, FieldName.of("X-Ban-Regex"), FieldName.of("X-Ban-Regexp"));
    private static final List<FieldName> HOST = List.of(FieldName.of("X-Ban-Host"), FieldName.of("X-Purge-Host"));
    private static final List<FieldName> TYPE =
            List.of(FieldName.of("X-Ban-Content-Type"), FieldName.of("X-Purge-Content-Type"));

    // Fields of BAN requests from FOSHttpCache.
    private static final FieldName FOS_URL = FieldName.of("X-Url");
    private static final FieldName FOS_HOST = FieldName.of("X-Host");
    private static final FieldName FOS_TYPE = FieldName.of("X-Content-Type");

    private static final List<TagField> TAGS = List.of(
            new TagField("X-Magento-Tags-Pattern", "X-Magento-Tags"),
            new TagField("X-Cache-Tags-Pattern", "X-Cache-Tags"),
            new TagField("X-Cache-Tags", "X-Cache-Tags"),
            new TagField("Cache-Tags", "Cache-Tags"),
            new TagField("Purge-Cache-Tags", "Purge-Cache-Tags"),
            new TagField("ApiPlatform-Ban-Regex", "Cache-Tags"));

    private final FieldSection fields;
    private final List<String> conditions = new ArrayList<>();
    private final Map<String, String> regexes = new LinkedHashMap<>();
    private boolean isPattern;
    private @Nullable String problem;
    /** The tags of the last expression over tags, if it only lists tags; else null. */
    private PurgeRequest.@Nullable ListedTags listed;

    private PatternFields(FieldSection fields) {
        this.fields = fields;
    }

    /**
     * A request field with an expression over tags, and the response field with the tags.
     *
     * @param words whether the field may contain tags separated by spaces instead of an expression, as Drupal sends
     *     them to Varnish
     */
    private record TagField(FieldName name, String response, boolean words) {
        TagField(String name, String response) {
            this(FieldName.of(name), response, response.equals(name) && !name.startsWith("X-"));
        }
    }

    /**
     * Reads the purge of a request.
     *
     * @param ban whether the method is BAN
     * @return null if the request has none of the fields
     */
    static @Nullable PurgeRequest of(RequestHead request, boolean ban) {
        PatternFields read = new PatternFields(request.fields());
        read.read(request.target(), ban);
        if (read.problem != null) {
            return new PurgeRequest.Malformed(read.problem);
        }
        if (read.isPathOnly()) {
            return read.ofBeginning(beginning(request.target()));
        }
        if (!read.isPattern) {
            return null;
        }
        TargetUri root = root(request.target());
        return new PurgeRequest.Matching(
                root,
                String.join(" && ", read.conditions),
                read.regexes,
                read.conditions.size() == 1 ? read.listed : null,
                read.conditions.isEmpty() ? root : null);
    }

    /**
     * Returns the purge of all URLs of the target's host. The purge covers every site if the host names no site, as
     * {@code InvalidationScopes.coversEverySite} decides.
     */
    static PurgeRequest ofAll(TargetUri target) {
        return new PurgeRequest.Matching(root(target), "", Map.of(), null, root(target));
    }

    /** Returns the purge of the URLs that begin with this one. */
    private PurgeRequest ofBeginning(TargetUri url) {
        if (url.path().indexOf('\\') >= 0) {
            return new PurgeRequest.Malformed(PurgeRequest.BACKSLASH);
        }
        String start = new String(PrefixStamps.normal(url), StandardCharsets.ISO_8859_1);
        String condition = start.equals("/") ? "" : "target =~ " + Expression.literal('^' + Pattern.quote(start));
        return new PurgeRequest.Matching(root(url), condition, regexes, null, url);
    }

    /** Returns the purge by an expression, which is the target's path and query. It must match from the start. */
    static PurgeRequest ofPath(TargetUri target) {
        String regex = '^' + target.pathAndQuery();
        return new PurgeRequest.Matching(
                root(target), "target =~ " + Expression.literal(regex), Map.of("the path", regex), null, null);
    }

    /**
     * Returns true if the only condition is {@code .*} in X-Purge-Regex. Then the request purges all URLs below its
     * path.
     */
    private boolean isPathOnly() {
        return regexes.size() == 1 && ANY.equals(regexes.get(PURGE_REGEX.text())) && !fields.contains(BAN_URL);
    }

    private static TargetUri beginning(TargetUri target) {
        TargetUri beginning = PurgePattern.hasWildcard(target) ? PurgePattern.beginning(target) : target;
        return beginning == null ? target : beginning;
    }

    private static TargetUri root(TargetUri target) {
        return target.withPath(new byte[] {'/'});
    }

    private void read(TargetUri target, boolean ban) {
        for (FieldName name : TARGET) {
            if (fields.contains(name)) {
                addTarget(target, name);
            }
        }
        HOST.forEach(name -> add("host", name));
        TYPE.forEach(name -> add(TYPE_FIELD, name));
        if (ban) {
            add("target", FOS_URL);
            add("host", FOS_HOST);
            add(TYPE_FIELD, FOS_TYPE);
        }
        for (TagField field : TAGS) {
            String regex = regex(field.name());
            if (regex != null && !regex.equals(ANY)) {
                TagList tags = TagExpression.tags(regex, field.words());
                listed = tags == null ? null : new PurgeRequest.ListedTags(tags, field.response());
                if (tags != null && regex.indexOf('(') < 0) {
                    regex = regex.replaceAll("^[ |]+|[ |]+$", "").replaceAll("[ |]+", "|");
                    regexes.put(field.name().text(), regex);
                }
                String match = " =~ " + Expression.literal(regex);
                conditions.add(
                        "(header[" + Expression.literal(field.response()) + "]" + match + " || tag" + match + ")");
            }
        }
    }

    /**
     * Adds a condition on path and query. For X-Purge-Regex without a circumflex at its beginning, it also adds the
     * condition that path and query begin with the path of the request. The two conditions are separate: the expression
     * may match anywhere.
     */
    private void addTarget(TargetUri target, FieldName name) {
        if (name.equals(BAN_URL) && hasValue(BAN_METHOD, "url")) {
            conditions.add("target == " + Expression.literal(String.valueOf(value(name))));
            return;
        }
        String path = new String(PrefixStamps.normal(beginning(target)), StandardCharsets.ISO_8859_1);
        String regex = regex(name);
        if (name.equals(PURGE_REGEX) && regex != null && !regex.startsWith("^") && !path.equals("/")) {
            conditions.add("target =~ " + Expression.literal('^' + Pattern.quote(path)));
        }
        add("target", name);
    }

    private void add(String part, FieldName name) {
        String regex = regex(name);
        if (regex != null && !regex.equals(ANY)) {
            // Hosts are stored in lower case.
            conditions.add(part + " =~ " + Expression.literal(part.equals("host") ? "(?i)" + regex : regex));
        }
    }

    private boolean hasValue(FieldName name, String value) {
        int line = fields.find(name);
        return line >= 0 && fields.valueEqualsIgnoreCase(line, value);
    }

    /** Returns the regular expression in a field; null if the field is absent. */
    private @Nullable String regex(FieldName name) {
        String regex = value(name);
        if (regex != null) {
            regexes.put(name.text(), regex);
        }
        return regex;
    }

    /** Returns the value of a field; null if the field is absent. */
    private @Nullable String value(FieldName name) {
        int line = fields.find(name);
        if (line < 0) {
            return null;
        }
        isPattern = true;
        String value = fields.value(line);
        if (value.isEmpty()) {
            problem = name.text() + " is empty";
        } else if (fields.next(name, line) >= 0) {
            problem = name.text() + " is repeated";
        }
        return value;
    }
}
