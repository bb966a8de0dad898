package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.data.ProxyAlarms;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.LogKeys;
import io.millrace.proxy.config.origins.OriginGroupConfig.Markdown;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.fetch.Origin;
import io.millrace.proxy.observe.alarm.Alarm;
import io.millrace.proxy.observe.alarm.AlarmKind;
import io.millrace.proxy.origin.HostDatabase;
import io.millrace.proxy.origin.OriginHealth;
import io.millrace.proxy.origin.OriginHost;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests the alarms that a running proxy detects, with real disks, origins and logs. */
class ProxyAlarmsTest {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private static List<Alarm> alarms(ProxyServer server) {
        return new ProxyAlarms(new ServerView(server)).alarms();
    }

    private static List<AlarmKind> kinds(ProxyServer server) {
        return alarms(server).stream().map(Alarm::kind).toList();
    }

    @Test
    void groupWithoutAHostIsAnAlarmUntilAHostIsUp() throws Exception {
        ProxyServer grouped = proxy.start(request -> request.ok("", new byte[0]));
        assertEquals(List.of(), alarms(grouped));
        grouped.reload(ConfigLoader.parse(
                        "listen: ['127.0.0.1:0']\norigins: [{name: shop, hosts: ['"
                                + proxy.origin().url() + "']}]\nremap: [{map: /, to: 'http://shop/', origins: shop}]\n",
                        "m.yaml",
                        Map.of())
                .config());
        OriginHost host = grouped.shared().groups().find("shop").hosts().get(0);
        host.markDown(
                new OriginHealth.ManualDown("deploy", ProxyExtension.START_MILLIS, Long.MAX_VALUE),
                ProxyExtension.START_MILLIS);
        Alarm alarm = alarms(grouped).get(0);
        assertEquals(AlarmKind.ORIGIN_GROUP_DOWN, alarm.kind());
        assertEquals("shop", alarm.subject());
        assertTrue(alarm.text().startsWith("its only host is down: "), alarm.text());
        assertTrue(alarm.text().endsWith("(marked down by an operator, deploy)"), alarm.text());
        host.markUp(ProxyExtension.START_MILLIS);
        assertEquals(List.of(), alarms(grouped));
    }

    /** The second origin is that of no rule, like a host that a client of the forward proxy names. */
    @Test
    void singleOriginThatIsDownIsAnAlarmUntilItAnswers() throws Exception {
        ProxyServer server = proxy.start(request -> request.ok("", new byte[0]));
        HostDatabase hosts = server.shared().hosts();
        proxy.get("/a");
        Origin origin = hosts.all().get(0).origin();
        Markdown rules = new Markdown(1, 1000, 1000, List.of());
        hosts.failed(origin, "connect-refused", ProxyExtension.START_MILLIS, rules);
        hosts.failed(Origin.http("other.example", 80), "dns", ProxyExtension.START_MILLIS, rules);
        Alarm alarm = alarms(server).get(0);
        assertEquals(List.of(AlarmKind.ORIGIN_DOWN), kinds(server));
        assertEquals(proxy.origin().url(), alarm.subject());
        assertEquals("connect-refused, failed connections in a row: 1; see millctl host show 127.0.0.1", alarm.text());
        proxy.get("/b");
        assertEquals(List.of(), alarms(server));
    }

    @Test
    void offlineStoragePathIsAnAlarmUntilItIsBack() throws Exception {
        Path storage = Files.createDirectory(directory.resolve("s"));
        ProxyServer server =
                proxy.start(request -> request.ok("", new byte[0]), config -> config.storage(storage, 256 << 20));
        assertEquals(List.of(), alarms(server));
        server.store().offline(storage, "repair").toCompletableFuture().join();
        assertEquals(List.of(AlarmKind.DISK_OFFLINE), kinds(server));
        assertEquals(storage.toString(), alarms(server).get(0).subject());
        assertEquals(
                "out of use: taken offline by command: repair; its responses are not available, all others are served",
                alarms(server).get(0).text());
        server.store().online(storage).toCompletableFuture().join();
        ProxyExtension.await("the path", () -> alarms(server).isEmpty());
    }

    /** A file in place of the directory of the log: it cannot be written, until the file is gone. */
    @Test
    void logThatCannotBeWrittenIsAnAlarmUntilItCan() throws Exception {
        Path place = Files.createFile(directory.resolve("logs"));
        ProxyServer server =
                proxy.start(request -> request.ok("", new byte[0]), config -> config.set("log.access.enabled", "true")
                        .set("log.access.path", place + "/access.log"));
        ProxyExtension.await("the alarm", () -> kinds(server).equals(List.of(AlarmKind.LOG_TARGET_DOWN)));
        Alarm alarm = alarms(server).get(0);
        assertEquals("access", alarm.subject());
        assertTrue(alarm.text().startsWith(place + "/access.log: "), alarm.text());
        Files.delete(place);
        server.reopenLogs();
        ProxyExtension.await("the log", () -> Files.exists(place.resolve("access.log")));
        assertEquals(List.of(), alarms(server));
    }

    @Test
    void logOfAListIsAnAlarmWithItsName() throws Exception {
        Path place = Files.createFile(directory.resolve("logs"));
        ProxyServer server = proxy.start(
                request -> request.ok("", new byte[0]),
                config -> config.accessLog(ConfigValues.builder()
                        .set(LogKeys.NAME, "all")
                        .set(LogKeys.PATH, place.resolve("all.log"))
                        .build()));
        ProxyExtension.await("the alarm", () -> kinds(server).equals(List.of(AlarmKind.LOG_TARGET_DOWN)));
        assertEquals("all", alarms(server).get(0).subject());
    }
}
