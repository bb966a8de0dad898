package io.millrace.proxy.access;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.guard.AuthorizeConfig;
import io.millrace.proxy.config.guard.AuthorizeKeys;
import io.millrace.proxy.config.guard.PasswordConfig;
import io.millrace.proxy.config.guard.PasswordKeys;
import io.millrace.proxy.config.guard.SignedUrlConfig;
import io.millrace.proxy.config.guard.SignedUrlKeys;
import io.millrace.proxy.config.guard.TokenConfig;
import io.millrace.proxy.config.guard.TokenKeys;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.value.InvalidValueException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The proofs of authorisation that requests for each remap rule need: the signature of their URL, a password, a token,
 * or the permission of an authorisation server. Immutable.
 */
public final class Guards {
    /** The guards of one remap rule. */
    private record Guard(
            @Nullable SignedUrlConfig signed,
            @Nullable PasswordConfig password,
            @Nullable TokenConfig token,
            @Nullable Authorization authorization) {}

    /**
     * The authorisation server of a remap rule.
     *
     * @param config the settings; null if requests for the rule are exempt from authorisation by the server
     * @param received the fields that only the server may set; requests of clients may not contain them, even if the
     *     rule is exempt
     */
    public record Authorization(@Nullable AuthorizeConfig config, ReceivedFields received) {}

    /** The settings by which rules with equal values share one {@link Guard}. */
    static final List<ConfigKey<?>> KEYS = List.of(
            SignedUrlKeys.KEYS,
            SignedUrlKeys.ENABLED,
            SignedUrlKeys.WHEN,
            SignedUrlKeys.URL,
            PasswordKeys.FILE,
            PasswordKeys.ENABLED,
            PasswordKeys.WHEN,
            PasswordKeys.REALM,
            TokenKeys.ENABLED,
            TokenKeys.KEYS_FILE,
            TokenKeys.KEYS_URL,
            TokenKeys.ISSUER,
            TokenKeys.AUDIENCE,
            TokenKeys.REQUIRED_CLAIMS,
            TokenKeys.COOKIE,
            TokenKeys.FORWARD,
            TokenKeys.REALM,
            TokenKeys.CLOCK_SKEW,
            TokenKeys.WHEN,
            AuthorizeKeys.ENABLED,
            AuthorizeKeys.URL,
            AuthorizeKeys.METHOD,
            AuthorizeKeys.SEND_FIELDS,
            AuthorizeKeys.RECEIVE_FIELDS,
            AuthorizeKeys.CACHE_KEY,
            AuthorizeKeys.TTL,
            AuthorizeKeys.NEGATIVE_TTL,
            AuthorizeKeys.TIMEOUT,
            AuthorizeKeys.ON_ERROR,
            AuthorizeKeys.ON_LIMIT,
            AuthorizeKeys.FORWARD,
            AuthorizeKeys.WHEN);

    private final Guard[] byRule;

    private Guards(ProxyConfig config) {
        List<ConfigValues> remap = config.values().elements(ConfigKeys.REMAP);
        byRule = new Guard[remap.size()];
        // Rules with equal settings share one object, because the files of users that it contains may be long.
        Map<List<@Nullable Object>, Guard> guardBySettings = new HashMap<>();
        for (int i = 0; i < remap.size(); i++) {
            ConfigValues inForce = TokenConfig.inForce(remap.get(i), config.values());
            byRule[i] = guardBySettings.computeIfAbsent(valuesOf(inForce), values -> read(inForce, config.values()));
        }
    }

    private static List<@Nullable Object> valuesOf(ConfigValues inForce) {
        List<@Nullable Object> values = new ArrayList<>();
        for (ConfigKey<?> key : KEYS) {
            values.add(inForce.find(key));
        }
        return values;
    }

    private static Guard read(ConfigValues inForce, ConfigValues general) {
        try {
            return new Guard(
                    SignedUrlConfig.from(inForce),
                    PasswordConfig.from(inForce),
                    TokenConfig.from(inForce),
                    authorization(inForce, general));
        } catch (InvalidValueException e) {
            throw new IllegalArgumentException(e.problem(), e);
        }
    }

    private static @Nullable Authorization authorization(ConfigValues inForce, ConfigValues general)
            throws InvalidValueException {
        AuthorizeConfig config = AuthorizeConfig.from(inForce, general);
        ReceivedFields received = ReceivedFields.of(AuthorizeConfig.receiveFields(inForce));
        return config == null && received.isEmpty() ? null : new Authorization(config, received);
    }

    /**
     * Returns the guards of a configuration; null if it has none.
     *
     * @throws IllegalArgumentException if a file is invalid
     */
    public static @Nullable Guards of(ProxyConfig config) {
        boolean anyGuard = hasGuard(config.values())
                || config.values().elements(ConfigKeys.REMAP).stream().anyMatch(Guards::hasGuard);
        return anyGuard ? new Guards(config) : null;
    }

    private static boolean hasGuard(ConfigValues values) {
        return values.isSet(SignedUrlKeys.KEYS)
                || values.isSet(PasswordKeys.FILE)
                || values.isSet(AuthorizeKeys.URL)
                || TokenConfig.isSet(values);
    }

    /**
     * Returns true if requests for a remap rule may need a proof of authorisation.
     *
     * @param rule index of the rule
     */
    public boolean needsProof(int rule) {
        Authorization authorization = authorization(rule);
        return signed(rule) != null
                || password(rule) != null
                || token(rule) != null
                || (authorization != null && authorization.config() != null);
    }

    /**
     * Returns the signatures that requests for a remap rule need; null for none.
     *
     * @param rule index of the rule
     */
    public @Nullable SignedUrlConfig signed(int rule) {
        return rule < byRule.length ? byRule[rule].signed() : null;
    }

    /**
     * Returns the passwords that requests for a remap rule need; null for none.
     *
     * @param rule index of the rule
     */
    public @Nullable PasswordConfig password(int rule) {
        return rule < byRule.length ? byRule[rule].password() : null;
    }

    /**
     * Returns the tokens that requests for a remap rule need; null for none.
     *
     * @param rule index of the rule
     */
    public @Nullable TokenConfig token(int rule) {
        return rule < byRule.length ? byRule[rule].token() : null;
    }

    /**
     * Returns the authorisation server of a remap rule; null for none.
     *
     * @param rule index of the rule
     */
    public @Nullable Authorization authorization(int rule) {
        return rule < byRule.length ? byRule[rule].authorization() : null;
    }
}
