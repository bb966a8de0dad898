package io.millrace.proxy.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.LogKeys;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.problem.ConfigProblem;
import io.millrace.proxy.config.value.TlsVersion;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that every key behaves in a file as the catalogue describes. */
class EveryKeyTest {
    private static final String NEEDED = "listen: [':1']\nremap: [{map: /, to: http://o/}]\n";

    static Stream<ConfigKey<?>> keys() {
        return ConfigCatalog.keys().stream();
    }

    static Stream<ConfigKey<?>> bounded() {
        return keys().filter(key -> key.minText() != null);
    }

    static Stream<ConfigKey<?>> settings() {
        return keys().filter(key -> key.path().indexOf('[') < 0 && key.type() != ValueType.LIST);
    }

    /** A file, and the position of the value. */
    private record Written(String text, String path, int line, int column) {
        ConfigResult read() {
            return ConfigLoader.parse(text, "m.yaml", Map.of());
        }

        Optional<ConfigProblem> problem() {
            return read().problems().stream()
                    .filter(problem ->
                            problem.path().equals(path) || problem.path().startsWith(path + "["))
                    .findFirst();
        }
    }

    /**
     * Returns a file with one key: {@code a[].b.c} as the key {@code c} in the section {@code b} of the only element of
     * {@code a}.
     */
    private static Written write(ConfigKey<?> key, String value) {
        List<String> lines = new ArrayList<>();
        StringBuilder path = new StringBuilder();
        String indent = "";
        String dash = "";
        String[] parts = key.path().split("\\.", -1);
        int column = 0;
        for (int i = 0; i < parts.length; i++) {
            boolean list = parts[i].endsWith("[]");
            String name = list ? parts[i].substring(0, parts[i].length() - 2) : parts[i];
            boolean last = i == parts.length - 1;
            String start = indent + dash + name + ":" + (last ? " " : "");
            lines.add(last ? start + value : start);
            column = start.length() + 1;
            path.append(i == 0 ? "" : ".").append(name).append(list ? "[0]" : "");
            indent = " ".repeat(indent.length() + dash.length() + 2);
            dash = list ? "- " : "";
        }
        int line = lines.size();
        String needed = NEEDED.lines()
                .filter(needs -> !needs.startsWith(parts[0].replace("[]", "") + ":"))
                .reduce("", (all, one) -> all + one + "\n");
        return new Written(String.join("\n", lines) + "\n" + needed, path.toString(), line, column);
    }

    private static void assertRefused(Written written, String because) {
        ConfigProblem problem = written.problem().orElse(null);
        assertNotNull(problem, () -> written.text() + written.read().text());
        String place = "m.yaml:" + written.line() + ":" + written.column() + ": ";
        assertTrue(problem.text().startsWith(place + problem.path() + ": "), () -> place + " but " + problem);
        assertTrue(problem.message().contains(because), () -> because + " but " + problem);
        assertEquals(ConfigProblem.Severity.ERROR, problem.severity());
    }

    @ParameterizedTest
    @MethodSource("keys")
    void aValueOfAnotherKindIsRefusedAtItsPlace(ConfigKey<?> key) {
        if (key == LogKeys.LOGS) {
            return; // a section under this name is the one access log: LogChecksTest
        }
        boolean list = key.type() == ValueType.LIST;
        String other = key.type() == ValueType.FIELD_LINES
                ? "{no: {value: value}}"
                : key.type() == ValueType.SECTION ? "[value]" : "{no: [value]}";
        assertRefused(write(key, other), list ? "must be a list" : "takes a");
    }

    @ParameterizedTest
    @MethodSource("keys")
    void aValueThatIsNotOfTheTypeIsRefusedAtItsPlace(ConfigKey<?> key) {
        String bad =
                switch (key.type().name()) {
                    case "list" -> null;
                    // Any text is a valid path, and nearly any a valid text; only the empty one is invalid.
                    case "path", "text", "names", "expressions" -> "''";
                    case "extension names", "field names", "cookie names", "protocol names" -> "'a b(c'";
                    case "expression" -> "'('";
                    case "parameter names" -> "'a*b'";
                    case "status codes" -> "'99'";
                    default -> "'~?!'";
                };
        if (bad != null) {
            assertRefused(write(key, bad), "");
        }
    }

    @ParameterizedTest
    @MethodSource("bounded")
    void boundsAreAllowedAndValuesBeyondAreRejectedAtTheirPlace(ConfigKey<?> key) {
        assertEquals(Optional.empty(), boundProblem(write(key, quoted(key.minText()))));
        assertEquals(Optional.empty(), boundProblem(write(key, quoted(key.maxText()))));
        String above = beyond(key, true);
        if (above != null) {
            assertRefused(write(key, quoted(above)), "above the limit of " + key.maxText());
        }
        String below = beyond(key, false);
        if (below != null) {
            assertRefused(write(key, quoted(below)), "below the limit of " + key.minText());
        }
    }

    private static Optional<ConfigProblem> boundProblem(Written written) {
        return written.problem()
                .filter(problem -> problem.line() == written.line()
                        && problem.message().matches(".*(above|below) the limit of (TLSv|[^a-z])*[0-9].*"));
    }

    private static String quoted(String text) {
        return "'" + text + "'";
    }

    /** Returns the value just beyond a bound; null if the type has none. */
    private static String beyond(ConfigKey<?> key, boolean above) {
        Object bound = above ? key.max() : key.min();
        int step = above ? 1 : -1;
        if (bound instanceof Integer number) {
            boolean zero = number + step == 0 && key.allowsZero();
            return number == Integer.MAX_VALUE || zero ? null : Integer.toString(number + step);
        } else if (bound instanceof Long bytes) {
            return bytes == 0 && !above ? null : bytes + step + "B";
        } else if (bound instanceof Duration time) {
            long nanos = time.toNanos() + step;
            boolean zero = nanos == 0 && key.allowsZero();
            return nanos < 0 || zero ? null : nanos + "ns";
        } else if (bound instanceof TlsVersion) {
            return above ? null : TlsVersion.TLS_1_1.text();
        } else if (bound instanceof Double number) {
            String text = BigDecimal.valueOf(number)
                    .add(BigDecimal.valueOf(step * 0.01))
                    .toPlainString();
            boolean percent = key.type() == ValueType.PERCENT;
            return percent ? BigDecimal.valueOf(number * 100 + step).toPlainString() + "%" : text;
        }
        throw new AssertionError(key + " has bounds of an unknown type");
    }

    @ParameterizedTest
    @MethodSource("settings")
    void theDefaultHoldsWhereNothingIsSetAndSettingItIsNoChange(ConfigKey<?> key) {
        ProxyConfig config = ConfigLoader.parse(NEEDED, "m.yaml", Map.of()).config();
        assertNotNull(config);
        assertEquals(key.defaultValue(), config.values().find(key));
        if (key.defaultValue() != null) {
            ProxyConfig set = new ProxyConfig(with(config, key, key.defaultValue()));
            assertEquals(List.of(), ConfigChange.between(config, set));
        }
    }

    private static ConfigValues with(ProxyConfig config, ConfigKey<?> key, Object value) {
        ConfigValues.Builder values = config.values().toBuilder();
        values.put(key, value);
        return values.build();
    }

    @ParameterizedTest
    @MethodSource("settings")
    void anotherValueIsOneChangeOfTheDeclaredKind(ConfigKey<?> key) {
        ProxyConfig config = ConfigLoader.parse(NEEDED, "m.yaml", Map.of()).config();
        assertNotNull(config);
        List<ConfigChange> changes = ConfigChange.between(config, OtherValues.with(config, key));
        assertEquals(1, changes.size(), changes::toString);
        assertEquals(
                key.path() + " " + key.apply(),
                changes.get(0).key() + " " + changes.get(0).apply());
    }
}
