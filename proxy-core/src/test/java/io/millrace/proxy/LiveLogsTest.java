package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.log.live.KeptKind;
import io.millrace.proxy.observe.log.target.FakeJournald;
import io.millrace.proxy.observe.log.target.FakeSyslog;
import io.millrace.proxy.tls.TestAuthority;
import io.millrace.proxy.tls.TestAuthority.Made;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests live changes of a list of access logs. */
class LiveLogsTest {
    private static final TestAuthority AUTHORITY = new TestAuthority("logs");
    private static final TestAuthority OTHER = new TestAuthority("others");

    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    @TempDir
    Path directory;

    private FakeSyslog receiver;
    private FakeSyslog second;

    @BeforeEach
    void startReceivers() throws IOException {
        receiver = FakeSyslog.udp();
        second = FakeSyslog.udp();
        live.in(directory);
    }

    @AfterEach
    void closeReceivers() throws IOException {
        receiver.close();
        second.close();
    }

    private String to(FakeSyslog fake) {
        return "target: syslog, syslog: {address: '" + fake.address() + "'}";
    }

    /** A list of one log with these settings. */
    private LiveProxy log(String settings) {
        return live.file("log: {access: [{" + settings + "}]}");
    }

    /** Sends a request, and returns its message. */
    private String message() throws Exception {
        live.get(live.fresh());
        return receiver.next();
    }

    private boolean hasIn(String pattern) throws Exception {
        return Pattern.compile(pattern).matcher(message()).find();
    }

    /** Returns a figure of the log a. */
    private long figure(String metric, String labels) {
        String line = metric + "{application=\"millrace\",log=\"a\"" + labels + "} ";
        Matcher found = Pattern.compile(Pattern.quote(line) + "(\\d+)")
                .matcher(live.proxy().proxy().metricsText());
        return found.find() ? Long.parseLong(found.group(1)) : 0;
    }

    /** Sends a request, waits for its line in the file or its rotated files, and returns all of these files. */
    private List<String> filesAfterRequest(String name) throws Exception {
        String path = live.fresh();
        live.get(path);
        ProxyExtension.await("line of " + path, () -> files(name).stream().anyMatch(file -> hasLine(file, path)));
        return files(name);
    }

    private List<String> files(String name) {
        try (Stream<Path> all = Files.list(directory)) {
            return all.map(file -> file.getFileName().toString())
                    .filter(file -> file.startsWith(name))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private String content(String file) {
        try {
            return Files.readString(directory.resolve(file), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return ""; // not written yet
        }
    }

    private boolean hasLine(String file, String path) {
        try {
            return Files.readString(directory.resolve(file)).contains(path + " ");
        } catch (IOException e) {
            return false; // rotated meanwhile
        }
    }

    /** Sends a request, and returns the number of kept requests of a kind. */
    private int kept(KeptKind kind) throws Exception {
        live.get(live.fresh());
        live.settle();
        ProxyExtension.await("end", () -> live.proxy().proxy().metrics().total(Counter.REQUESTS_ACTIVE) == 0);
        live.settle();
        return live.proxy().proxy().liveLog().kept(kind, null, 10).size();
    }

    @LiveKey("log.slow_threshold")
    void slowThreshold() throws Exception {
        live.file("admin: {socket: admin.sock}\nlog: {slow_threshold: <0|1us>}").turns(0, 1, () -> kept(KeptKind.SLOW));
    }

    @LiveKey("log.kept_requests")
    void keptRequests() throws Exception {
        live.script(request -> request.send("HTTP/1.1 500 Error\r\nContent-Length: 0\r\n\r\n"));
        live.file("admin: {socket: admin.sock}\nlog: {kept_requests: <0|5>}").turns(0, 1, () -> kept(KeptKind.FAILED));
    }

    @LiveKey("log.access")
    void list() throws Exception {
        live.file("log: {access: [{name: a, " + to(receiver) + "}<|, {name: b, " + to(receiver) + "}>]}")
                .turns(List.of("a"), List.of("a", "b"), () -> {
                    live.get(live.fresh());
                    TreeSet<String> names = new TreeSet<>();
                    for (int i = 0; i < (live.isChanged() ? 2 : 1); i++) {
                        names.add(receiver.next().replaceFirst(".* log=\"([a-z]+)\".*", "$1"));
                    }
                    return new ArrayList<>(names);
                });
    }

    @LiveKey("log.access[].name")
    void name() throws Exception {
        log("name: <a|b>, " + to(receiver)).turns(true, false, () -> hasIn(" log=\"a\""));
    }

    @LiveKey("log.access[].format")
    void format() throws Exception {
        log("name: a, format: <common|squid>, " + to(receiver)).turns(true, false, () -> hasIn("\"GET http"));
    }

    @LiveKey("log.access[].fields")
    void fields() throws Exception {
        log("name: a, format: binary, path: a.blog, fields: [<cquuc|chi>]").turns(true, false, () -> {
            int length = content("a.blog").length();
            live.get(live.fresh());
            ProxyExtension.await("block", () -> content("a.blog").length() > length);
            return content("a.blog").substring(length).contains("http:");
        });
    }

    @LiveKey("log.access[].filter")
    void filter() throws Exception {
        log("name: a, filter: 'path =~ \"^/<one|two>\"', " + to(receiver)).turns("one", "two", () -> {
            live.get("/one" + live.fresh());
            live.get("/two" + live.fresh());
            return receiver.next().replaceFirst(".*/(one|two)/.*", "$1");
        });
    }

    @LiveKey("log.access[].sample")
    void sample() throws Exception {
        log("name: a, sample: <1|2>, " + to(receiver)).turns(false, true, () -> hasIn(" sample=\"2\""));
    }

    @LiveKey("log.access[].sample_by")
    void sampleBy() throws Exception {
        log("name: a, sample: 4, sample_by: <request|client>, " + to(receiver)).turns(true, false, () -> {
            long before = seen("written");
            long all = before + seen("sampled_out");
            for (int i = 0; i < 8; i++) {
                live.get(live.fresh());
            }
            ProxyExtension.await("eight records", () -> seen("written") + seen("sampled_out") == all + 8);
            return seen("written") - before == 2;
        });
    }

    private long seen(String result) {
        return figure("millrace_log_lines_total", ",result=\"" + result + "\"");
    }

    @LiveKey("log.access[].target")
    void target() throws Exception {
        log("name: a, <" + to(receiver) + "|path: a.log>").turns("syslog", "file", () -> {
            if (live.isChanged()) {
                filesAfterRequest("a.log");
                return "file";
            }
            message();
            return "syslog";
        });
    }

    @LiveKey("log.access[].path")
    void path() throws Exception {
        log("name: a, path: <one|two>.log").turns("one.log", "two.log", () -> {
            String path = live.fresh();
            live.get(path);
            ProxyExtension.await("line", () -> hasLine("one.log", path) || hasLine("two.log", path));
            return hasLine("one.log", path) ? "one.log" : "two.log";
        });
    }

    @LiveKey("log.access[].rotate_size")
    void rotateSize() throws Exception {
        log("name: a, path: a.log, rotate_size: <0|1B>").turns(false, true, () -> {
            filesAfterRequest("a.log");
            return filesAfterRequest("a.log").size() > 1;
        });
    }

    @LiveKey("log.access[].rotate_interval")
    void rotateInterval() throws Exception {
        log("name: a, path: a.log, rotate_interval: <0|1s>").turns(false, true, () -> {
            filesAfterRequest("a.log");
            if (live.isChanged()) {
                ProxyExtension.await("rotation", () -> files("a.log").size() > 1);
            }
            return files("a.log").size() > 1;
        });
    }

    @LiveKey("log.access[].rotate_keep")
    void rotateKeep() throws Exception {
        log("name: a, path: a.log, rotate_size: 1B, rotate_keep: <1|3>").turns(1, 3, () -> {
            int kept = live.isChanged() ? 3 : 1;
            for (int i = 0; i < 5; i++) {
                filesAfterRequest("a.log");
            }
            ProxyExtension.await("deletion", () -> rotated() == kept);
            return rotated();
        });
    }

    private int rotated() {
        return files("a.log.").size();
    }

    @LiveKey("log.access[].syslog.address")
    void address() throws Exception {
        log("name: a, target: syslog, syslog: {address: '<" + receiver.address() + "|" + second.address() + ">'}")
                .turns("first", "second", () -> {
                    live.get(live.fresh());
                    while (true) {
                        if (receiver.poll() != null) {
                            return "first";
                        }
                        if (second.poll() != null) {
                            return "second";
                        }
                        LockSupport.parkNanos(1_000_000);
                    }
                });
    }

    @LiveKey("log.access[].syslog.facility")
    void facility() throws Exception {
        syslog("facility: <local0|local1>").turns(true, false, () -> hasIn("^<134>1 "));
    }

    @LiveKey("log.access[].syslog.severity")
    void severity() throws Exception {
        syslog("severity: <info|notice>").turns(true, false, () -> hasIn("^<134>1 "));
    }

    @LiveKey("log.access[].syslog.app_name")
    void appName() throws Exception {
        syslog("app_name: <edge|inner>").turns(true, false, () -> hasIn(" edge "));
    }

    private LiveProxy syslog(String setting) {
        return log("name: a, target: syslog, syslog: {address: '" + receiver.address() + "', " + setting + "}");
    }

    private LiveProxy tls(String settings) throws Exception {
        receiver.close();
        receiver = FakeSyslog.tls(AUTHORITY);
        Files.writeString(directory.resolve("ca.pem"), AUTHORITY.rootPem());
        Files.writeString(directory.resolve("other.pem"), OTHER.rootPem());
        for (String name : List.of("one", "two")) {
            Made client = AUTHORITY.issue(name);
            Files.writeString(directory.resolve(name + ".pem"), client.chainPem());
            Files.writeString(directory.resolve(name + ".key"), client.keyPem());
        }
        return syslog(settings);
    }

    @LiveKey("log.access[].syslog.ca_file")
    void caFile() throws Exception {
        tls("ca_file: <ca|other>.pem").turns(true, false, () -> {
            live.get(live.fresh());
            if (live.isChanged()) {
                ProxyExtension.await("refusal", () -> figure("millrace_log_errors_total", "") > 0);
                return false;
            }
            receiver.next();
            assertEquals(0, figure("millrace_log_errors_total", ""));
            return true;
        });
    }

    @LiveKey("log.access[].syslog.certificate")
    void certificate() throws Exception {
        tls("ca_file: ca.pem, certificate: <one|two>.pem, key: <one|two>.key").turns("one", "two", this::peer);
    }

    @LiveKey("log.access[].syslog.key")
    void key() throws Exception {
        tls("ca_file: ca.pem, certificate: <two|one>.pem, key: <two|one>.key").turns("two", "one", this::peer);
    }

    private String peer() throws Exception {
        message();
        return receiver.peer().replaceFirst(".*(one|two).*", "$1");
    }

    @LiveKey("log.access[].journald.socket")
    void journald() throws Exception {
        try (FakeJournald one = new FakeJournald(directory.resolve("one"));
                FakeJournald two = new FakeJournald(directory.resolve("two"))) {
            log("name: a, target: journald, journald: {socket: <one|two>}").turns("one", "two", () -> {
                live.get(live.fresh());
                return (live.isChanged() ? two : one).next().startsWith("MESSAGE=")
                        ? live.isChanged() ? "two" : "one"
                        : "";
            });
        }
    }
}
