package io.millrace.proxy.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.config.access.ListenerConfig;
import io.millrace.proxy.config.access.ListenerConfig.Transparency;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the settings of transparent proxies. */
class ConfigTransparentTest {
    private static ConfigResult read(String listen, String more) {
        String text = "listen: [" + listen + "]\nremap: [{map: /, to: 'http://127.0.0.1:1'}]\n" + more;
        return ConfigLoader.parse(text, "millrace.yaml", Map.of());
    }

    @Test
    void eachAddressHasItsMode() {
        ConfigResult result = read(
                "':1', {address: ':2', transparent: in}, {address: ':3', transparent: out}, {address: ':4', transparent: both}",
                "");
        assertEquals(
                List.of(Transparency.OFF, Transparency.IN, Transparency.OUT, Transparency.BOTH),
                Objects.requireNonNull(result.config()).listeners().stream()
                        .map(ListenerConfig::transparency)
                        .toList());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "{address: 'unix:/run/m.sock', transparent: out} | | is not for a Unix socket, whose connections have no addresses",
                "{address: ':2', transparent: in} | worker: {transport: nio} | needs worker.transport: epoll, or auto on Linux",
                "{address: ':2', transparent: yes} | | 'yes' is none of off, in, out, both",
            })
    void unusableModeIsAnError(String listen, String more, String problem) {
        String text = read(listen, more == null ? "" : more).text();
        assertEquals(
                1,
                text.lines()
                        .filter(line -> line.contains("listen[0].transparent: " + problem))
                        .count(),
                text);
    }
}
