package io.millrace.worker.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.observe.log.output.LogDestination;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests the default paths of access logs. */
class DefaultPathsTest {
    private static ProxyConfig complete(String log) {
        ProxyConfig config = ConfigLoader.parse(
                        "listen: [':1']\nremap: [{map: /, to: 'http://o/'}]\n" + log,
                        "m.yaml",
                        Path.of("/etc/m"),
                        Map.of())
                .config();
        assertNotNull(config);
        return new DefaultPaths(Path.of("/state"), Path.of("/cache"), Path.of("/log")).complete(config);
    }

    @Test
    void theOneLogIsNamedAccess() {
        assertEquals(Path.of("/log/access.log"), complete("").log().accessPath());
    }

    @Test
    void eachLogOfAListIsNamedAsTheLogUnlessItHasAPath() {
        ProxyConfig config =
                complete("log: {access: [{name: all}, {name: some, path: other.log}, {name: out, target: stdout}]}\n");
        assertNull(config.log().accessPath());
        List<LogDestination> destinations =
                config.log().accessLogs().stream().map(log -> log.destination()).toList();
        assertEquals(Path.of("/log/all.log"), ((LogDestination.ToFile) destinations.get(0)).path());
        assertEquals(Path.of("/etc/m/other.log"), ((LogDestination.ToFile) destinations.get(1)).path());
        assertEquals(new LogDestination.ToStandardOutput(), destinations.get(2));
    }
}
