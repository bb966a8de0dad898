package io.millrace.proxy.config.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.millrace.proxy.config.ConfigCatalog;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ValueType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Tests that every key of a file, secret or program has a decision whether a fleet may push it. */
class PushedKeysTest {
    /** Last parts of names of keys that may name a file, a secret or a program. */
    private static final Pattern SUSPICIOUS = Pattern.compile(
            ".*(_file|_path|command|hook|script|secret|token|password|private|directory|java_home|exec|library|jar).*");

    private static boolean isDecided(ConfigKey<?> key) {
        String path = key.path();
        boolean inSection = PushedKeys.SECTIONS.keySet().stream().anyMatch(section -> PushedKeys.isIn(path, section));
        return inSection
                || PushedKeys.PUSHABLE.contains(path)
                || PushedKeys.KEYS.values().stream().anyMatch(keys -> keys.contains(path));
    }

    @Test
    void everyKeyOfAFileHasADecision() {
        List<String> undecided = new ArrayList<>();
        for (ConfigKey<?> key : ConfigCatalog.keys()) {
            boolean isSuspicious = (key.type() == ValueType.STRING || key.type() == ValueType.NAMES)
                    && SUSPICIOUS.matcher(key.name()).matches();
            if ((PushedKeys.isFile(key) || isSuspicious) && !isDecided(key)) {
                undecided.add(key.path());
            }
        }
        assertEquals(List.of(), undecided, "add these keys to PushedKeys.KEYS with the reason, or to PUSHABLE");
    }

    @Test
    void everyDecisionIsAboutAKeyThatExists() {
        Set<String> decided = new HashSet<>(PushedKeys.PUSHABLE);
        PushedKeys.KEYS.values().forEach(decided::addAll);
        ConfigCatalog.keys().forEach(key -> decided.remove(key.path()));
        assertEquals(Set.of(), decided);
    }

    @Test
    void aRefusalHasTheReason() {
        assertEquals(
                "cannot be pushed, because it names a file of the node that may have a secret; set it in the local file",
                PushedKeys.refusal(ConfigCatalog.find("signed_urls.keys")));
        assertNotNull(PushedKeys.refusal(ConfigCatalog.find("extensions")));
        assertNotNull(PushedKeys.refusal(ConfigCatalog.find("extensions[].jar")));
        assertNotNull(PushedKeys.refusal(ConfigCatalog.find("extensions[].class")));
        assertNull(PushedKeys.refusal(ConfigCatalog.find("remap[].extensions")));
        assertNotNull(PushedKeys.refusalOfSection("alarms.exec"));
        assertNull(PushedKeys.refusalOfSection("alarms"));
        assertNull(PushedKeys.refusal(ConfigCatalog.find("cache.ram_size")));
    }
}
