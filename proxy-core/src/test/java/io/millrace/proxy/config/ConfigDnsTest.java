package io.millrace.proxy.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.millrace.proxy.config.dns.DnsConfig;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the section dns in the file: valid settings, and messages about invalid ones. */
class ConfigDnsTest {
    @TempDir
    Path directory;

    private ConfigResult load(String dns) throws IOException {
        Path file = directory.resolve("millrace.yaml");
        Files.writeString(file, """
                listen: [":8080"]
                remap: [{map: /, to: "http://a.example/"}]
                dns: %s
                """.formatted(dns));
        return ConfigLoader.load(file, Map.of());
    }

    private static String problems(ConfigResult result) {
        return result.problems().stream()
                .map(problem ->
                        problem.line() + ":" + problem.column() + " " + problem.path() + ": " + problem.message())
                .collect(Collectors.joining("\n"));
    }

    @Test
    void readsEverySetting() throws IOException {
        Files.writeString(directory.resolve("hosts"), "192.0.2.1 a.example\n");
        ConfigResult result = load("""
                {name_servers: [192.0.2.53, "192.0.2.54:5353", "2001:db8::53", "[2001:db8::54]", "[2001:db8::55]:54"],
                  split: [{domains: [Corp.Example., .lan], name_servers: [10.0.0.1]}], hosts_file: hosts, prefer: ipv6,
                  query_timeout: 1s, ttl_min: 2s, ttl_max: 3s, negative_ttl: 4s, serve_stale_for: 5s, down_time: 6s,
                  hosts_max: 17, in_flight_max: 18}
                """);
        assertEquals("", problems(result));
        ProxyConfig config = result.config();
        assertNotNull(config);
        DnsConfig dns = config.dns();
        assertEquals(
                "[/192.0.2.53:53, /192.0.2.54:5353, /[2001:db8:0:0:0:0:0:53]:53, /[2001:db8:0:0:0:0:0:54]:53, "
                        + "/[2001:db8:0:0:0:0:0:55]:54]",
                dns.nameServers().toString());
        assertEquals(
                List.of("corp.example", "lan"),
                dns.zones().stream().map(DnsConfig.Zone::domain).toList());
        assertEquals(directory.resolve("hosts"), dns.hostsFile());
        assertEquals(DnsConfig.Prefer.IPV6, dns.prefer());
        assertEquals(
                List.of(1L, 2L, 3L, 4L, 5L, 6L, 17L, 18L),
                List.of(
                        TimeUnit.NANOSECONDS.toSeconds(dns.queryTimeoutNanos()),
                        TimeUnit.NANOSECONDS.toSeconds(dns.ttlMinNanos()),
                        TimeUnit.NANOSECONDS.toSeconds(dns.ttlMaxNanos()),
                        TimeUnit.NANOSECONDS.toSeconds(dns.negativeTtlNanos()),
                        TimeUnit.NANOSECONDS.toSeconds(dns.staleMaxNanos()),
                        TimeUnit.NANOSECONDS.toSeconds(dns.downNanos()),
                        (long) dns.hostsMax(),
                        (long) dns.inFlightMax()));
    }

    @Test
    void withoutTheSectionTheSystemSettingsApply() {
        DnsConfig dns = ProxyConfig.defaults().dns();
        assertEquals(List.of(), dns.nameServers());
        assertEquals(List.of(), dns.zones());
        assertNull(dns.hostsFile());
    }

    @Test
    void aChangeOfItIsLive() throws IOException {
        ProxyConfig before = load("{ttl_max: 1h}").config();
        ProxyConfig after = load("{ttl_max: 2h, name_servers: [192.0.2.53]}").config();
        assertNotNull(before);
        assertNotNull(after);
        assertEquals(
                List.of(ConfigKey.Apply.LIVE, ConfigKey.Apply.LIVE),
                ConfigChange.between(before, after).stream()
                        .map(ConfigChange::apply)
                        .toList());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            {name_servers: [ns.example]} | 3:7 dns.name_servers: 'ns.example' is not the address of a name server such as 192.0.2.53 or [2001:db8::53]:5353
            {name_servers: [":53"]} | 3:7 dns.name_servers: ':53' is not the address of a name server such as 192.0.2.53 or [2001:db8::53]:5353
            {name_servers: ["192.0.2.1:0"]} | 3:7 dns.name_servers: '192.0.2.1:0' has no valid port
            {name_servers: [192.0.2.1, "192.0.2.1:53"]} | 3:7 dns.name_servers: contains a name server twice
            {split: [{domains: [a.example, b..example], name_servers: [192.0.2.1]}]} | 3:16 dns.split[0].domains: 'b..example' is not a domain such as corp.example.com
            {split: [{domains: [], name_servers: [192.0.2.1]}]} | 3:16 dns.split[0].domains: is empty
            {split: [{domains: [a.b], name_servers: [192.0.2.1]}, {domains: [A.B.], name_servers: [192.0.2.2]}]} | 3:61 dns.split[1].domains: 'A.B.' is already in dns.split[0]
            {split: [{domains: [a.b]}]} | 3:15 dns.split[0].name_servers: missing; it takes a names (a list of words)
            {hosts_file: /nowhere/hosts} | 3:7 dns.hosts_file: /nowhere/hosts: no such file
            {ttl_min: 1m, ttl_max: 10s} | 3:20 dns.ttl_max: 10s is below the limit of ttl_min, 1m
            {ttl_min: 61m} | 3:16 dns.ttl_min: 61m is above the limit of 1h
            """)
    void reportsTheProblemAndItsPlace(String dns, String problem) throws IOException {
        assertEquals(problem, problems(load(dns)));
    }
}
