package io.millrace.proxy.config.check;

import io.millrace.proxy.config.access.AccessConfig;
import io.millrace.proxy.config.access.ForwardProxyKeys;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import io.millrace.proxy.config.value.InvalidValueException;
import java.util.List;
import java.util.Locale;

/** Checks methods, addresses and fields of the access rules, and the proxy's name. */
final class AccessChecks {
    private static final String TOKEN_BYTES = "!#$%&'*+-.^_`|~";

    private final ConfigProblems problems;
    private final Place wholeFile;

    AccessChecks(ConfigProblems problems, Place wholeFile) {
        this.problems = problems;
        this.wholeFile = wholeFile;
    }

    void check(ConfigValues values) {
        checkMethods(values, ConfigKeys.METHODS, "methods");
        checkName(values);
        if (values.get(ForwardProxyKeys.ENABLED)
                && !values.isSet(ForwardProxyKeys.ALLOW)
                && !problems.isBroken(ForwardProxyKeys.ALLOW.path())) {
            problems.error(
                    problems.placeOf(ForwardProxyKeys.ENABLED.path(), wholeFile),
                    ForwardProxyKeys.ALLOW.path(),
                    "missing; set the clients whose requests are forwarded, such as [10.0.0.0/8]");
        }
        checkPurgers(values, "purge.allow");
        List<ConfigValues> rules = values.elements(ConfigKeys.REMAP);
        for (int i = 0; i < rules.size(); i++) {
            if (rules.get(i).hasSettingsOfRule()) {
                checkMethods(rules.get(i), ConfigKeys.METHODS, "remap[" + i + "].methods");
                checkPurgers(rules.get(i), "remap[" + i + "].purge.allow");
            }
        }
        try {
            AccessConfig.ranges(AccessConfig.list(values, ConfigKeys.ACCESS_TRUSTED_PROXIES));
        } catch (InvalidValueException e) {
            error(ConfigKeys.ACCESS_TRUSTED_PROXIES.path(), e);
        }
        try {
            AccessConfig.fields(AccessConfig.list(values, ConfigKeys.ACCESS_FORWARDED_FIELDS));
        } catch (InvalidValueException e) {
            error(ConfigKeys.ACCESS_FORWARDED_FIELDS.path(), e);
        }
    }

    /**
     * Checks that the proxy's name is a token. Via and Cache-Status then need no quotes (RFC 9110 s7.6.3, RFC 9211 s2).
     */
    private void checkName(ConfigValues values) {
        String name = values.get(ConfigKeys.VIA_NAME);
        if (!isToken(name)) {
            error(
                    ConfigKeys.VIA_NAME.path(),
                    new InvalidValueException("'" + name + "' is not a name of letters, digits, '-' and '.'"));
        }
    }

    private void checkPurgers(ConfigValues values, String path) {
        try {
            AccessConfig.purgers(values);
        } catch (InvalidValueException e) {
            error(path, e);
        }
    }

    /** Checks that each method is a token in upper case. */
    void checkMethods(ConfigValues values, ConfigKey<List<String>> key, String path) {
        for (String method : AccessConfig.list(values, key)) {
            if (method.equals("CONNECT") && key == ConfigKeys.METHODS) {
                error(path, new InvalidValueException("CONNECT is not controlled by rules; see forward_proxy"));
            } else if (!isToken(method)) {
                error(path, new InvalidValueException("'" + method + "' is not a method"));
            } else if (!method.equals(method.toUpperCase(Locale.ROOT))) {
                error(
                        path,
                        new InvalidValueException(
                                "'" + method + "' must be in capital letters", method.toUpperCase(Locale.ROOT)));
            }
        }
    }

    private static boolean isToken(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean letterOrDigit = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
            if (!letterOrDigit && TOKEN_BYTES.indexOf(c) < 0) {
                return false;
            }
        }
        return !text.isEmpty();
    }

    private void error(String path, InvalidValueException e) {
        problems.error(problems.placeOf(path, wholeFile), path, e.problem(), e.suggestion());
    }
}
