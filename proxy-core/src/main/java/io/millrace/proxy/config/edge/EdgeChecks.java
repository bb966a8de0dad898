package io.millrace.proxy.config.edge;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.WebOrigin;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import java.util.ArrayList;
import java.util.List;

/** Checks CORS and mirrored requests, for all requests and for each remap rule, and canary splits. */
public final class EdgeChecks {
    private final ConfigProblems problems;
    private final Place wholeFile;

    /** @param wholeFile place of problems without a place of their own */
    public EdgeChecks(ConfigProblems problems, Place wholeFile) {
        this.problems = problems;
        this.wholeFile = wholeFile;
    }

    /** Reports every fault. */
    public void check(ConfigValues values) {
        List<ConfigValues> remap = values.elements(ConfigKeys.REMAP);
        checkCors(values, values, "");
        checkMirror(values, values, "");
        for (int i = 0; i < remap.size(); i++) {
            String rule = "remap[" + i + "]";
            checkCors(remap.get(i), values, rule + ".");
            checkMirror(remap.get(i), values, rule + ".");
            SplitConfig.check(remap.get(i), (key, message) -> report(rule + "." + key, rule, message));
        }
    }

    /**
     * Checks the settings of all requests or of one rule.
     *
     * @param own the general values, or those of the rule
     * @param prefix the path of the rule, with a dot; empty for the general settings
     */
    private void checkCors(ConfigValues own, ConfigValues general, String prefix) {
        ConfigValues inForce = own.over(general);
        List<String> origins = inForce.find(CorsKeys.ORIGINS);
        if (origins == null) {
            reportUnused(own, prefix, CorsKeys.ORIGINS, CorsKeys.OTHERS, CorsKeys.ENABLED);
            return;
        }
        checkAny(own, CorsKeys.METHODS, prefix);
        checkAny(own, CorsKeys.HEADERS, prefix);
        checkAny(own, CorsKeys.EXPOSE, prefix);
        boolean isSetHere = own.isSet(CorsKeys.ORIGINS)
                || CorsKeys.OTHERS.stream().anyMatch(key -> own.isSet(key) && isNotDefault(own, key));
        if (!isSetHere || !inForce.get(CorsKeys.CREDENTIALS) || !inForce.get(CorsKeys.ENABLED)) {
            return;
        }
        ConfigKey<?> at = own.isSet(CorsKeys.CREDENTIALS) ? CorsKeys.CREDENTIALS : CorsKeys.ORIGINS;
        if (origins.contains(WebOrigin.ANY)) {
            error(prefix, at, "cannot be used with cors.origins: *; browsers refuse it, list the origins");
        } else if (origins.contains(WebOrigin.NULL)) {
            error(prefix, at, "cannot be used with the origin null, which any site can send from a sandboxed frame");
        }
        for (ConfigKey<List<String>> key : List.of(CorsKeys.METHODS, CorsKeys.HEADERS, CorsKeys.EXPOSE)) {
            if (inForce.get(key).contains(WebOrigin.ANY)) {
                error(
                        prefix,
                        own.isSet(key) ? key : at,
                        key.path() + ": * has no special meaning for browsers with cors.credentials; list the names");
            }
        }
    }

    /** Checks that a list with {@code *} has no other elements. */
    private void checkAny(ConfigValues own, ConfigKey<List<String>> key, String prefix) {
        List<String> words = own.find(key);
        if (words != null && words.size() > 1 && words.contains(WebOrigin.ANY)) {
            error(prefix, key, "* stands for all; remove the others, or *");
        }
    }

    private void checkMirror(ConfigValues own, ConfigValues general, String prefix) {
        if (own.over(general).find(MirrorKeys.TO) == null) {
            reportUnused(own, prefix, MirrorKeys.TO, MirrorKeys.OTHERS, MirrorKeys.SAMPLE);
        }
    }

    /**
     * Reports each setting that is not the default and has no effect, because the main key is not set. A general
     * setting has an effect if a remap rule sets the main key.
     *
     * @param off the key that turns the feature off; it may be set although {@code main} is not
     */
    private void reportUnused(
            ConfigValues own, String prefix, ConfigKey<?> main, List<ConfigKey<?>> others, ConfigKey<?> off) {
        boolean usedByRule =
                prefix.isEmpty() && own.elements(ConfigKeys.REMAP).stream().anyMatch(rule -> rule.isSet(main));
        if (usedByRule || isBroken(prefix, main) || isBroken("", main)) {
            return;
        }
        for (ConfigKey<?> key : others) {
            if (isNotDefault(own, key) && !key.equals(off)) {
                error(prefix, key, "has no effect without " + main.path());
            }
        }
    }

    /** Returns true if a value is set that is not the default. */
    private static boolean isNotDefault(ConfigValues own, ConfigKey<?> key) {
        Object value = own.find(key);
        return value != null && !value.equals(key.defaultValue());
    }

    private boolean isBroken(String prefix, ConfigKey<?> key) {
        return problems.isBroken(prefix + key.path());
    }

    private void error(String prefix, ConfigKey<?> key, String message) {
        String path = prefix + key.path();
        if (!problems.isBroken(path)) {
            problems.error(problems.placeOf(path, wholeFile), path, message);
        }
    }

    /** @param element the element to which the path belongs, for a key that is not set */
    private void report(String path, String element, String message) {
        if (!problems.isBroken(path)) {
            int dot = path.lastIndexOf('.');
            Place place = problems.placeOf(path.substring(0, dot), problems.placeOf(element, wholeFile));
            problems.error(problems.placeOf(path, place), path, message);
        }
    }

    /** Returns the regular expressions of all settings. */
    public static List<String> expressions(ConfigValues values) {
        List<String> expressions = new ArrayList<>(CorsConfig.expressions(values));
        for (ConfigValues rule : values.elements(ConfigKeys.REMAP)) {
            expressions.addAll(CorsConfig.expressions(rule));
        }
        return expressions;
    }
}
