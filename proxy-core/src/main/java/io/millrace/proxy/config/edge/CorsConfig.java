package io.millrace.proxy.config.edge;

import com.google.re2j.Pattern;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.WebOrigin;
import io.millrace.proxy.config.value.Regex;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The settings of CORS for one remap rule. Immutable.
 *
 * @param isAny whether all origins are permitted
 * @param origins permitted origins, as browsers write them
 * @param patterns expressions, each of which must match a whole origin
 * @param methods permitted methods, or only {@code *}
 * @param headers permitted request fields, or only {@code *}
 * @param expose response fields that scripts may read, or only {@code *}
 * @param credentials whether requests with credentials are permitted
 * @param maxAgeSeconds time for which a browser remembers the answer to a preflight request
 */
public record CorsConfig(
        boolean isAny,
        List<String> origins,
        List<Pattern> patterns,
        List<String> methods,
        List<String> headers,
        List<String> expose,
        boolean credentials,
        long maxAgeSeconds) {
    /**
     * Reads the settings of a remap rule.
     *
     * @param inForce the values of the rule, completed by the general values
     * @return null if this proxy does not answer for CORS
     */
    public static @Nullable CorsConfig from(ConfigValues inForce) {
        List<String> all = inForce.find(CorsKeys.ORIGINS);
        if (all == null || !inForce.get(CorsKeys.ENABLED)) {
            return null;
        }
        List<String> exact = new ArrayList<>();
        for (String each : all) {
            if (!isExpression(each) && !each.equals(WebOrigin.ANY)) {
                exact.add(each);
            }
        }
        return new CorsConfig(
                all.contains(WebOrigin.ANY),
                List.copyOf(exact),
                expressions(inForce).stream().map(Regex::compile).toList(),
                inForce.get(CorsKeys.METHODS),
                inForce.get(CorsKeys.HEADERS),
                inForce.get(CorsKeys.EXPOSE),
                inForce.get(CorsKeys.CREDENTIALS),
                inForce.get(CorsKeys.MAX_AGE).toSeconds());
    }

    /** Returns the regular expressions among the origins. */
    public static List<String> expressions(ConfigValues values) {
        List<String> all = values.find(CorsKeys.ORIGINS);
        return all == null
                ? List.of()
                : all.stream()
                        .filter(CorsConfig::isExpression)
                        .map(each -> each.substring(1))
                        .toList();
    }

    private static boolean isExpression(String each) {
        return each.charAt(0) == WebOrigin.EXPRESSION;
    }

    /** Returns true if scripts of an origin may read responses. */
    public boolean allows(String origin) {
        return isAny
                || origins.contains(origin)
                || patterns.stream().anyMatch(pattern -> pattern.matcher(origin).matches());
    }
}
