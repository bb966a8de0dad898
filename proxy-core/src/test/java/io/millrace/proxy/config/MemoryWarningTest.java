package io.millrace.proxy.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.problem.ConfigProblem;
import io.millrace.proxy.config.value.SystemMemory;
import io.millrace.proxy.config.value.Units;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Tests the warning about a {@code cache.ram_size} above the memory of the machine or control group, at its place in
 * the file.
 */
final class MemoryWarningTest {
    private static final long MIB = 1 << 20;

    private static List<ConfigProblem> problems(String ramSize) {
        ConfigResult result = ConfigLoader.parse(
                "listen: [':1']\nremap: [{map: /, to: 'http://o.example/'}]\n" + ramSize, "x.yaml", Map.of());
        assertTrue(result.isOk(), result::text);
        return result.problems();
    }

    @Test
    void namesBothSizesAndThePlace() {
        long there = SystemMemory.totalBytes() / MIB;
        List<ConfigProblem> above = problems("cache: {ram_size: " + (there + 1) + "MiB}");
        assertEquals(1, above.size(), above::toString);
        String text = above.get(0).text();
        assertTrue(text.startsWith("x.yaml:3:9: ") && text.contains("cache.ram_size"), text);
        assertTrue(text.contains("is above the memory of this machine or control group"), text);
        assertTrue(text.contains(Units.formatSize(SystemMemory.totalBytes())), text);
        assertEquals(List.of(), problems("cache: {ram_size: " + there + "MiB}"));
        assertEquals(List.of(), problems(""));
    }
}
