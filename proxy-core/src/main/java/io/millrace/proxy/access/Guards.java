package io.millrace.proxy.access;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.SignedUrlConfig;
import io.millrace.proxy.config.access.SignedUrlKeys;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.value.InvalidValueException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What requests for each remap rule have to prove: the signature of their URL. Immutable. */
public final class Guards {
    private final @Nullable SignedUrlConfig[] signed;

    private Guards(ProxyConfig config) {
        List<ConfigValues> remap = config.values().elements(ConfigKeys.REMAP);
        signed = new SignedUrlConfig[remap.size()];
        Map<ConfigValues, SignedUrlConfig> known = new HashMap<>();
        for (int i = 0; i < remap.size(); i++) {
            ConfigValues own = remap.get(i).settingsOfRule();
            SignedUrlConfig found = known.get(own);
            if (found == null) {
                found = read(own.over(config.values()));
                if (found != null) {
                    known.put(own, found);
                }
            }
            signed[i] = found;
        }
    }

    private static @Nullable SignedUrlConfig read(ConfigValues inForce) {
        try {
            return SignedUrlConfig.from(inForce);
        } catch (InvalidValueException e) {
            throw new IllegalArgumentException("signed_urls: " + e.problem(), e);
        }
    }

    /**
     * Returns the guards of a configuration; null if it has none.
     *
     * @throws IllegalArgumentException if a file has a fault
     */
    public static @Nullable Guards of(ProxyConfig config) {
        boolean isAny = config.values().isSet(SignedUrlKeys.KEYS)
                || config.values().elements(ConfigKeys.REMAP).stream().anyMatch(rule -> rule.isSet(SignedUrlKeys.KEYS));
        return isAny ? new Guards(config) : null;
    }

    /**
     * Returns the signatures that requests for a remap rule need; null for none.
     *
     * @param rule index of the rule
     */
    public @Nullable SignedUrlConfig signed(int rule) {
        return rule < signed.length ? signed[rule] : null;
    }
}
