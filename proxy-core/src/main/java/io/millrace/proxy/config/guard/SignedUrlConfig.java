package io.millrace.proxy.config.guard;

import com.google.re2j.Pattern;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.LoadedFile;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.request.RequestFacts;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The signatures that the requests of one remap rule need. Immutable.
 *
 * @param keys the keys
 * @param when the condition on requests that need a signature; null for all
 * @param signed the URL that signatures cover
 */
public record SignedUrlConfig(SigningKeys keys, @Nullable Expression<RequestFacts> when, Signed signed) {
    /** The URLs that a signature can cover. */
    public enum Signed {
        /** The URL that the client requests. */
        CLIENT,
        /** The URL of the request to the origin. */
        ORIGIN
    }

    /**
     * Checks the condition.
     *
     * @throws InvalidValueException if it is no condition on requests
     */
    public static void checkWhen(ConfigValues values) throws InvalidValueException {
        RequestConditions.parse(values.get(SignedUrlKeys.WHEN));
    }

    /**
     * Checks the file of keys.
     *
     * @throws InvalidValueException if a line has a fault
     */
    public static void checkKeys(ConfigValues values) throws InvalidValueException {
        SigningKeys.parse(values.get(SignedUrlKeys.KEYS));
    }

    /** Returns the regular expressions of the condition and of the file of keys; empty if one of them has a fault. */
    public static List<String> patterns(ConfigValues values) {
        List<String> patterns = new ArrayList<>();
        try {
            String when = values.find(SignedUrlKeys.WHEN);
            if (when != null) {
                patterns.addAll(RequestConditions.parse(when).patterns());
            }
            LoadedFile keys = values.find(SignedUrlKeys.KEYS);
            Pattern excluded = keys == null ? null : SigningKeys.parse(keys).excluded();
            if (excluded != null) {
                patterns.add(excluded.pattern());
            }
        } catch (InvalidValueException e) {
            return List.of();
        }
        return patterns;
    }

    /**
     * Reads the settings of a remap rule.
     *
     * @param inForce the values of the rule, completed by the general values
     * @return null if no signature is needed
     * @throws InvalidValueException if the file of keys has a fault
     */
    public static @Nullable SignedUrlConfig from(ConfigValues inForce) throws InvalidValueException {
        LoadedFile file = inForce.find(SignedUrlKeys.KEYS);
        if (file == null || !inForce.get(SignedUrlKeys.ENABLED)) {
            return null;
        }
        String when = inForce.find(SignedUrlKeys.WHEN);
        return new SignedUrlConfig(
                SigningKeys.parse(file),
                when == null ? null : RequestConditions.parse(when),
                inForce.get(SignedUrlKeys.URL));
    }
}
