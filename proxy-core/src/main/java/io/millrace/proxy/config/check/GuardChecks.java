package io.millrace.proxy.config.check;

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
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import java.util.ArrayList;
import java.util.List;

/**
 * Checks the settings of signed URLs, passwords, tokens and authorisation servers, for all requests and for each remap
 * rule.
 */
final class GuardChecks {
    /** Settings of tokens that have an effect only if the keys of the issuer are configured. */
    private static final List<ConfigKey<?>> TOKEN_KEYS = List.of(
            TokenKeys.ENABLED,
            TokenKeys.ISSUER,
            TokenKeys.AUDIENCE,
            TokenKeys.REQUIRED_CLAIMS,
            TokenKeys.COOKIE,
            TokenKeys.FORWARD,
            TokenKeys.REALM,
            TokenKeys.CLOCK_SKEW,
            TokenKeys.WHEN);

    /** Settings that have an effect only if the URL of an authorisation server is configured. */
    private static final List<ConfigKey<?>> AUTHORIZE_KEYS = List.of(
            AuthorizeKeys.ENABLED,
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

    private final ConfigProblems problems;
    private final Place wholeFile;

    GuardChecks(ConfigProblems problems, Place wholeFile) {
        this.problems = problems;
        this.wholeFile = wholeFile;
    }

    void check(ConfigValues values) {
        check(values, values, "");
        List<ConfigValues> remap = values.elements(ConfigKeys.REMAP);
        for (int i = 0; i < remap.size(); i++) {
            if (remap.get(i).hasSettingsOfRule()) {
                check(remap.get(i), values, "remap[" + i + "].");
            }
        }
    }

    /**
     * Checks the general settings, or those of one remap rule.
     *
     * @param own the general values, or those of the rule
     * @param general the values that a rule does not override
     * @param prefix the path of the rule, with a dot; empty for the general settings
     */
    private void check(ConfigValues own, ConfigValues general, String prefix) {
        String keys = prefix + SignedUrlKeys.KEYS.path();
        if (own.isSet(SignedUrlKeys.WHEN)) {
            problems.check(prefix + SignedUrlKeys.WHEN.path(), wholeFile, () -> SignedUrlConfig.checkWhen(own));
        }
        if (own.isSet(SignedUrlKeys.KEYS)) {
            problems.check(keys, wholeFile, () -> SignedUrlConfig.checkKeys(own));
        }
        checkPasswords(own, general, prefix);
        checkTokens(own, general, prefix);
        reportUnusedTokens(own, general, prefix);
        checkAuthorization(own, general, prefix);
        boolean set = own.isSet(SignedUrlKeys.WHEN) || isNotDefault(own, SignedUrlKeys.URL);
        if (set && !own.over(general).isSet(SignedUrlKeys.KEYS) && !problems.isBroken(keys)) {
            String path = prefix + (own.isSet(SignedUrlKeys.WHEN) ? SignedUrlKeys.WHEN : SignedUrlKeys.URL).path();
            problems.error(at(path), path, "has no effect without signed_urls.keys, the file with the keys");
        }
    }

    private void checkPasswords(ConfigValues own, ConfigValues general, String prefix) {
        if (own.isSet(PasswordKeys.WHEN)) {
            problems.check(prefix + PasswordKeys.WHEN.path(), wholeFile, () -> PasswordConfig.checkWhen(own));
        }
        if (own.isSet(PasswordKeys.FILE)) {
            problems.check(prefix + PasswordKeys.FILE.path(), wholeFile, () -> PasswordConfig.checkFile(own));
        }
        if (own.isSet(PasswordKeys.REALM)) {
            problems.check(
                    prefix + PasswordKeys.REALM.path(),
                    wholeFile,
                    () -> PasswordConfig.checkRealm(own.get(PasswordKeys.REALM)));
        }
        boolean set = own.isSet(PasswordKeys.WHEN) || isNotDefault(own, PasswordKeys.REALM);
        if (set
                && !own.over(general).isSet(PasswordKeys.FILE)
                && !problems.isBroken(prefix + PasswordKeys.FILE.path())) {
            String path = prefix + (own.isSet(PasswordKeys.WHEN) ? PasswordKeys.WHEN : PasswordKeys.REALM).path();
            problems.error(at(path), path, "has no effect without basic_auth.file, the file of users");
        }
    }

    private void checkTokens(ConfigValues own, ConfigValues general, String prefix) {
        checkIfSet(own, TokenKeys.KEYS_FILE, prefix, () -> TokenConfig.checkFile(own));
        checkIfSet(own, TokenKeys.KEYS_URL, prefix, () -> TokenConfig.checkUrl(own));
        checkIfSet(own, TokenKeys.REQUIRED_CLAIMS, prefix, () -> TokenConfig.checkClaims(own));
        checkIfSet(own, TokenKeys.WHEN, prefix, () -> TokenConfig.checkWhen(own));
        checkIfSet(own, TokenKeys.REALM, prefix, () -> PasswordConfig.checkRealm(own.get(TokenKeys.REALM)));
        ConfigValues inForce = TokenConfig.inForce(own, general);
        if (own.isSet(TokenKeys.KEYS_FILE) && own.isSet(TokenKeys.KEYS_URL)) {
            error(prefix, TokenKeys.KEYS_URL, "cannot be used together with jwt.keys_file; remove one of them");
        }
        boolean isSetHere = TokenConfig.isSet(own) || own.isSet(PasswordKeys.FILE);
        boolean areBothSet = TokenConfig.isSet(inForce) && inForce.isSet(PasswordKeys.FILE);
        if (isSetHere && areBothSet && inForce.get(TokenKeys.ENABLED) && inForce.get(PasswordKeys.ENABLED)) {
            ConfigKey<?> key = own.isSet(PasswordKeys.FILE)
                    ? PasswordKeys.FILE
                    : own.isSet(TokenKeys.KEYS_FILE) ? TokenKeys.KEYS_FILE : TokenKeys.KEYS_URL;
            error(
                    prefix,
                    key,
                    "a request cannot have a password and a token in Authorization; set basic_auth.enabled or"
                            + " jwt.enabled to false");
        }
    }

    /**
     * Reports each token setting that is not the default and has no effect, because neither jwt.keys_file nor
     * jwt.keys_url is set. A general setting has an effect if a remap rule sets one of the two keys.
     */
    private void reportUnusedTokens(ConfigValues own, ConfigValues general, String prefix) {
        boolean used = TokenConfig.isSet(TokenConfig.inForce(own, general))
                || (prefix.isEmpty() && own.elements(ConfigKeys.REMAP).stream().anyMatch(TokenConfig::isSet));
        if (used || isSourceBroken(prefix) || isSourceBroken("")) {
            return;
        }
        for (ConfigKey<?> key : TOKEN_KEYS) {
            boolean turnedOff = key.equals(TokenKeys.ENABLED) && Boolean.FALSE.equals(own.find(key));
            if (isNotDefault(own, key) && !turnedOff) {
                error(prefix, key, "has no effect without jwt.keys_file or jwt.keys_url, the keys of the issuer");
            }
        }
    }

    private void checkAuthorization(ConfigValues own, ConfigValues general, String prefix) {
        checkIfSet(own, AuthorizeKeys.URL, prefix, () -> AuthorizeConfig.checkUrl(own));
        checkIfSet(own, AuthorizeKeys.SEND_FIELDS, prefix, () -> AuthorizeConfig.checkSendFields(own));
        checkIfSet(own, AuthorizeKeys.RECEIVE_FIELDS, prefix, () -> AuthorizeConfig.checkReceiveFields(own));
        checkIfSet(own, AuthorizeKeys.CACHE_KEY, prefix, () -> AuthorizeConfig.checkCacheKey(own));
        checkIfSet(own, AuthorizeKeys.WHEN, prefix, () -> AuthorizeConfig.checkWhen(own));
        ConfigValues inForce = own.over(general);
        boolean used = inForce.isSet(AuthorizeKeys.URL)
                || problems.isBroken(prefix + AuthorizeKeys.URL.path())
                || problems.isBroken(AuthorizeKeys.URL.path())
                || (prefix.isEmpty()
                        && own.elements(ConfigKeys.REMAP).stream().anyMatch(rule -> rule.isSet(AuthorizeKeys.URL)));
        for (ConfigKey<?> key : used ? List.<ConfigKey<?>>of() : AUTHORIZE_KEYS) {
            boolean turnedOff = key.equals(AuthorizeKeys.ENABLED) && Boolean.FALSE.equals(own.find(key));
            if (isNotDefault(own, key) && !turnedOff) {
                error(prefix, key, "has no effect without authorize.url, the authorisation server");
            }
        }
        if (own.isSet(AuthorizeKeys.FORWARD)
                && own.get(AuthorizeKeys.FORWARD)
                && !hasAuthorization(inForce.get(AuthorizeKeys.SEND_FIELDS))) {
            error(
                    prefix,
                    AuthorizeKeys.FORWARD,
                    "has no effect, since authorize.send_fields does not have Authorization: origins get it anyway");
        }
    }

    private static boolean hasAuthorization(List<String> names) {
        return names.stream().anyMatch("Authorization"::equalsIgnoreCase);
    }

    private boolean isSourceBroken(String prefix) {
        return problems.isBroken(prefix + TokenKeys.KEYS_FILE.path())
                || problems.isBroken(prefix + TokenKeys.KEYS_URL.path());
    }

    private void checkIfSet(ConfigValues own, ConfigKey<?> key, String prefix, ConfigProblems.Check check) {
        if (own.isSet(key)) {
            problems.check(prefix + key.path(), wholeFile, check);
        }
    }

    private void error(String prefix, ConfigKey<?> key, String message) {
        String path = prefix + key.path();
        problems.error(at(path), path, message);
    }

    /** Returns true if a value is set that is not the default. */
    private static boolean isNotDefault(ConfigValues own, ConfigKey<?> key) {
        Object value = own.find(key);
        return value != null && !value.equals(key.defaultValue());
    }

    private Place at(String path) {
        return problems.placeOf(path, wholeFile);
    }

    /** Returns the regular expressions of all conditions. Conditions with an error are skipped. */
    static List<String> expressions(ConfigValues values) {
        List<String> patterns = new ArrayList<>(SignedUrlConfig.patterns(values));
        patterns.addAll(PasswordConfig.patterns(values));
        patterns.addAll(TokenConfig.patterns(values));
        patterns.addAll(AuthorizeConfig.patterns(values));
        for (ConfigValues rule : values.elements(ConfigKeys.REMAP)) {
            patterns.addAll(SignedUrlConfig.patterns(rule));
            patterns.addAll(PasswordConfig.patterns(rule));
            patterns.addAll(TokenConfig.patterns(rule));
            patterns.addAll(AuthorizeConfig.patterns(rule));
        }
        return patterns;
    }
}
