package io.millrace.proxy.remap;

import com.google.re2j.Pattern;
import io.millrace.proxy.config.value.RefererConfig;
import io.millrace.proxy.config.value.Regex;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.http.UriBytes;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The Referer conditions of a {@code map_with_referer} rule, with the redirect for requests that do not fulfil them.
 * The first expression that matches Referer decides. If none matches, the request is allowed only if {@code *} is
 * configured. Immutable.
 */
public final class RefererRules {
    /** A regular expression; requests whose Referer matches are allowed or refused. */
    private record Expression(Pattern pattern, boolean refused) {}

    private final RemapRule rule;
    private final List<Expression> expressions;
    /** True if requests whose Referer matches no expression are allowed. */
    private final boolean allowsUnmatched;
    /** True if requests without Referer are allowed. */
    private final boolean allowsMissing;

    private final String redirect;
    private final String reason;

    RefererRules(RemapRule rule, RefererConfig config) {
        this.rule = rule;
        allowsUnmatched = config.expressions().contains(RefererConfig.ANY);
        allowsMissing = config.expressions().contains(RefererConfig.OPTIONAL);
        expressions = config.expressions().stream()
                .filter(text -> !text.equals(RefererConfig.ANY) && !text.equals(RefererConfig.OPTIONAL))
                .map(text -> new Expression(
                        Regex.compile(text.startsWith("~") ? text.substring(1) : text, Pattern.CASE_INSENSITIVE),
                        text.startsWith("~")))
                .toList();
        redirect = config.redirect();
        reason = "referer:remap[" + rule.index() + "]";
    }

    /** Returns true if the request is allowed. */
    public boolean allow(FieldSection fields) {
        String referer = fields.get(FieldName.REFERER);
        if (referer == null) {
            return allowsMissing;
        }
        for (Expression expression : expressions) {
            if (expression.pattern.matcher(referer).find()) {
                return !expression.refused;
            }
        }
        return allowsUnmatched;
    }

    /** The reason for logs: {@code referer:remap[3]}. */
    public String reason() {
        return reason;
    }

    /**
     * Returns the redirect URL of a request that is not allowed. Bytes of its Referer that are not allowed in URLs are
     * percent-encoded.
     */
    public String location(TargetUri target, FieldSection fields) {
        StringBuilder location = new StringBuilder();
        for (int i = 0; i < redirect.length(); i++) {
            if (RefererConfig.isCode(redirect, i)) {
                i++;
                location.append(value(redirect.charAt(i), target, fields.get(FieldName.REFERER)));
            } else {
                location.append(redirect.charAt(i));
            }
        }
        return UriBytes.encoded(location.toString().getBytes(StandardCharsets.ISO_8859_1));
    }

    private String value(char code, TargetUri target, @Nullable String referer) {
        return switch (code) {
            case 'r' -> referer == null ? "" : referer;
            case 'f' -> rule.config().from().toString();
            case 't' -> rule.config().to().toString();
            default -> rule.urlOf(target);
        };
    }
}
