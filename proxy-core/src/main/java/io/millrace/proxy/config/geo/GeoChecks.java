package io.millrace.proxy.config.geo;

import io.millrace.proxy.config.access.RequestLimitKeys;
import io.millrace.proxy.config.guard.AuthorizeConfig;
import io.millrace.proxy.config.guard.AuthorizeKeys;
import io.millrace.proxy.config.guard.PasswordKeys;
import io.millrace.proxy.config.guard.SignedUrlKeys;
import io.millrace.proxy.config.guard.TokenKeys;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import io.millrace.proxy.config.rules.RuleKeys;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.ExpressionException;
import io.millrace.proxy.expression.Field;
import io.millrace.proxy.expression.request.RequestFacts;
import io.millrace.proxy.expression.request.RequestFields;
import io.millrace.proxy.geo.MmdbException;
import io.millrace.proxy.geo.MmdbFile;
import java.nio.file.Path;
import java.util.List;

/** Checks the databases of locations, and that each condition which reads a location has its database. */
public final class GeoChecks {
    private static final List<ConfigKey<String>> CONDITIONS =
            List.of(SignedUrlKeys.WHEN, PasswordKeys.WHEN, TokenKeys.WHEN, AuthorizeKeys.WHEN);

    private final ConfigProblems problems;
    private final Place wholeFile;

    public GeoChecks(ConfigProblems problems, Place wholeFile) {
        this.problems = problems;
        this.wholeFile = wholeFile;
    }

    /** Checks the settings in force. */
    public void check(ConfigValues values) {
        checkFile(values, GeoKeys.DATABASE);
        checkFile(values, GeoKeys.ASN_DATABASE);
        checkField(values);
        checkConditions(values, values, "", RuleKeys.RULES, RequestLimitKeys.LIMITS);
        List<ConfigValues> remap = values.elements(ConfigKeys.REMAP);
        for (int i = 0; i < remap.size(); i++) {
            checkConditions(remap.get(i), values, "remap[" + i + "].", RuleKeys.OF_REMAP, RequestLimitKeys.OF_REMAP);
        }
    }

    private void checkFile(ConfigValues values, ConfigKey<Path> key) {
        if (values.isSet(key)) {
            problems.check(key.path(), wholeFile, () -> checkFile(values.get(key)));
        }
    }

    private void checkField(ConfigValues values) {
        String path = GeoKeys.COUNTRY_FIELD.path();
        String name = values.find(GeoKeys.COUNTRY_FIELD);
        if (name == null) {
            return;
        }
        problems.check(path, wholeFile, () -> AuthorizeConfig.checkReceived(name));
        if (!values.isSet(GeoKeys.DATABASE) && !problems.isBroken(GeoKeys.DATABASE.path())) {
            problems.error(
                    problems.placeOf(path, wholeFile),
                    path,
                    "has no effect without geo.database, a file in the MaxMind DB format");
        }
    }

    private static void checkFile(Path path) throws InvalidValueException {
        try {
            MmdbFile.check(path);
        } catch (MmdbException e) {
            throw new InvalidValueException(String.valueOf(e.getMessage()));
        }
    }

    private void checkConditions(
            ConfigValues own,
            ConfigValues general,
            String prefix,
            ConfigKey<List<ConfigValues>> rules,
            ConfigKey<List<ConfigValues>> limits) {
        for (ConfigKey<String> key : CONDITIONS) {
            checkCondition(own, key, prefix + key.path(), general);
        }
        List<ConfigValues> elements = own.elements(rules);
        for (int i = 0; i < elements.size(); i++) {
            checkCondition(elements.get(i), RuleKeys.WHEN, prefix + "rules[" + i + "].when", general);
        }
        elements = own.elements(limits);
        for (int i = 0; i < elements.size(); i++) {
            checkCondition(elements.get(i), RequestLimitKeys.WHEN, prefix + "request_limits[" + i + "].when", general);
        }
    }

    private void checkCondition(ConfigValues own, ConfigKey<String> key, String path, ConfigValues general) {
        String text = own.find(key);
        if (text == null || problems.isBroken(path)) {
            return;
        }
        try {
            for (Field<RequestFacts> field :
                    Expression.parse(text, RequestFields.SCHEMA).fields()) {
                checkField(field, path, general);
            }
        } catch (ExpressionException e) {
            // The check of the condition itself reports the fault.
            return;
        }
    }

    private void checkField(Field<RequestFacts> field, String path, ConfigValues general) {
        ConfigKey<Path> needed = RequestFields.isOfPlaces(field)
                ? GeoKeys.DATABASE
                : RequestFields.isOfNetworks(field) ? GeoKeys.ASN_DATABASE : null;
        if (needed != null && !general.isSet(needed) && !problems.isBroken(needed.path())) {
            problems.error(
                    problems.placeOf(path, wholeFile),
                    path,
                    "reads " + field.name() + ", which needs " + needed.path() + ", a file in the MaxMind DB format");
        }
    }
}
