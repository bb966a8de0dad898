package io.millrace.proxy;

import io.millrace.proxy.admin.data.ProxyAlarms;
import io.millrace.proxy.observe.alarm.Alarm;
import io.millrace.proxy.tls.TestAuthority;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests live changes of the settings of alarms. */
class LiveAlarmsTest {
    private static final TestAuthority AUTHORITY = new TestAuthority("alarms");
    private static final Instant NOW = Instant.ofEpochMilli(ProxyExtension.START_MILLIS);

    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    @TempDir
    Path directory;

    @LiveKey("alarms.certificate_days")
    void certificateDays() throws Exception {
        AUTHORITY
                .issue(NOW.minus(Duration.ofDays(300)), NOW.plus(Duration.ofDays(20)), "soon.example")
                .write(directory, "c");
        live.in(directory)
                .file("listen: ['127.0.0.1:0', {address: '127.0.0.1:0', tls: {}}]\n"
                        + "tls: {certificates: [{certificate: c.crt, key: c.key}]}\n"
                        + "alarms: {certificate_days: <14|30>}")
                .turns(List.of(), List.of("soon.example"), () -> new ProxyAlarms(
                                new ServerView(live.proxy().proxy()))
                        .alarms().stream().map(Alarm::subject).toList());
    }
}
