package io.millrace.proxy.config.check;

import io.millrace.proxy.config.cache.CompressionConfig;
import io.millrace.proxy.config.cache.CompressionKeys;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import io.millrace.proxy.config.value.Units;
import io.millrace.proxy.encode.CompressionDictionary;
import java.util.List;

/** Checks the settings of compression, for all requests and for each remap rule. */
final class CompressionChecks {
    private static final long KIB = 1024;

    private final ConfigProblems problems;
    private final Place wholeFile;

    CompressionChecks(ConfigProblems problems, Place wholeFile) {
        this.problems = problems;
        this.wholeFile = wholeFile;
    }

    void check(ConfigValues values) {
        check(values, values, "");
        List<ConfigValues> remap = values.elements(ConfigKeys.REMAP);
        for (int i = 0; i < remap.size(); i++) {
            if (remap.get(i).hasSettingsOfRule()) {
                check(remap.get(i), remap.get(i).over(values), "remap[" + i + "].");
            }
        }
    }

    private void check(ConfigValues own, ConfigValues inForce, String prefix) {
        String encodings = prefix + CompressionKeys.ENCODINGS.path();
        if (own.isSet(CompressionKeys.ENCODINGS)) {
            problems.check(encodings, wholeFile, () -> CompressionConfig.checkEncodings(own));
        }
        if (own.isSet(CompressionKeys.DICTIONARIES_ENCODINGS)) {
            String withDictionary = prefix + CompressionKeys.DICTIONARIES_ENCODINGS.path();
            problems.check(withDictionary, wholeFile, () -> CompressionConfig.checkDictionaryEncodings(own));
        }
        if (own.isSet(CompressionKeys.TYPES)) {
            String types = prefix + CompressionKeys.TYPES.path();
            problems.check(types, wholeFile, () -> CompressionConfig.checkTypes(own));
        }
        boolean hasSize = own.isSet(CompressionKeys.MIN_SIZE) || own.isSet(CompressionKeys.MAX_SIZE);
        long least = inForce.get(CompressionKeys.MIN_SIZE);
        long most = inForce.get(CompressionKeys.MAX_SIZE);
        if (hasSize && least > most) {
            String path = prefix
                    + (own.isSet(CompressionKeys.MIN_SIZE) ? CompressionKeys.MIN_SIZE : CompressionKeys.MAX_SIZE)
                            .path();
            problems.error(
                    at(path),
                    path,
                    "min_size " + Units.formatSize(least) + " is above max_size " + Units.formatSize(most));
        }
        checkDictionaryMemory(own, inForce, prefix);
        boolean isSet = own.isSet(CompressionKeys.ENABLED) || own.isSet(CompressionKeys.ENCODINGS);
        String warning = isSet ? CompressionConfig.missingLibraries(inForce) : null;
        if (warning != null && !problems.isBroken(encodings)) {
            problems.warning(at(encodings), encodings, warning);
        }
    }

    private void checkDictionaryMemory(ConfigValues own, ConfigValues inForce, String prefix) {
        boolean isSizeSet = own.isSet(CompressionKeys.DICTIONARIES_MAX_SIZE);
        boolean isChanged = isSizeSet
                || own.isSet(CompressionKeys.DICTIONARIES_MEMORY)
                || own.isSet(CompressionKeys.DICTIONARIES_ENABLED)
                || own.isSet(CompressionKeys.ENABLED);
        long size = inForce.get(CompressionKeys.DICTIONARIES_MAX_SIZE);
        long needed = CompressionDictionary.memoryBytes(size) + CompressionDictionary.RESPONSE_BYTES;
        long memory = inForce.get(CompressionKeys.DICTIONARIES_MEMORY);
        if (!isChanged || !CompressionConfig.usesDictionaries(inForce) || needed <= memory) {
            return;
        }
        String path = isSizeSet
                ? prefix + CompressionKeys.DICTIONARIES_MAX_SIZE.path()
                : CompressionKeys.DICTIONARIES_MEMORY.path();
        problems.error(
                at(path),
                path,
                "max_size " + Units.formatSize(size) + " needs " + Units.formatSize((needed + KIB - 1) / KIB * KIB)
                        + " of memory with the tables of encoders, above " + CompressionKeys.DICTIONARIES_MEMORY.path()
                        + " " + Units.formatSize(memory) + "; lower max_size or raise memory");
    }

    private Place at(String path) {
        return problems.placeOf(path, wholeFile);
    }
}
