package io.millrace.proxy.config.check;

import io.millrace.proxy.config.RemapChecks;
import io.millrace.proxy.config.access.ListenerConfig;
import io.millrace.proxy.config.access.ProxyProtocolKeys;
import io.millrace.proxy.config.access.TransparentKeys;
import io.millrace.proxy.config.access.UnixListenKeys;
import io.millrace.proxy.config.cache.CacheRuleConfig;
import io.millrace.proxy.config.cache.CacheRulesKeys;
import io.millrace.proxy.config.edge.EdgeChecks;
import io.millrace.proxy.config.edge.MirrorKeys;
import io.millrace.proxy.config.extension.ExtensionChecks;
import io.millrace.proxy.config.geo.GeoChecks;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.WorkerConfig;
import io.millrace.proxy.config.origins.HostDatabaseKeys;
import io.millrace.proxy.config.origins.Http2Keys;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import io.millrace.proxy.config.remap.RemapKeys;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.config.rules.RuleKeys;
import io.millrace.proxy.config.tls.SharedTlsKeys;
import io.millrace.proxy.config.value.ListenAddress;
import io.millrace.proxy.config.value.OpenFilesLimit;
import io.millrace.proxy.config.value.Regex;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.config.value.SystemMemory;
import io.millrace.proxy.config.value.Units;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Checks that involve several keys. Keys may require, exclude or bound each other, and some files must exist. */
public final class ConfigChecks {
    /** An owner of a Unix socket: user, user:group or :group. */
    private static final Pattern OWNER = Pattern.compile("[^:\\s]+(:[^:\\s]+)?|:[^:\\s]+");

    private final ConfigProblems problems;
    private final Place wholeFile;

    public ConfigChecks(ConfigProblems problems, Place wholeFile) {
        this.problems = problems;
        this.wholeFile = wholeFile;
    }

    /** Checks only values that could be read, so that a misspelt or invalid key is reported once. */
    public void check(ConfigValues values) {
        List<ConfigValues> listeners = values.elements(ConfigKeys.LISTEN);
        if (listeners.isEmpty() && !problems.isBroken("listen")) {
            problems.error(at("listen"), "listen", "missing; set the addresses for clients, such as [\":8080\"]");
        }
        checkListeners(listeners, values);
        new StorageChecks(problems, wholeFile).check(values);
        new RemapChecks(problems, wholeFile).check(values);
        new OriginGroupChecks(problems, wholeFile).check(values);
        new AccessChecks(problems, wholeFile).check(values);
        new FilterChecks(problems, wholeFile).check(values);
        new CacheRulesChecks(problems, wholeFile).check(values);
        new RulesChecks(problems, wholeFile).check(values);
        new RequestLimitChecks(problems, wholeFile).check(values);
        new ErrorPageChecks(problems, wholeFile).check(values);
        new GuardChecks(problems, wholeFile).check(values);
        new EdgeChecks(problems, wholeFile).check(values);
        checkMirrors(values);
        new GeoChecks(problems, wholeFile).check(values);
        new ExtensionChecks(problems, wholeFile).check(values);
        new CompressionChecks(problems, wholeFile).check(values);
        new DnsChecks(problems, wholeFile).check(values);
        new TlsChecks(problems, wholeFile).check(values);
        new OriginTlsChecks(problems, wholeFile).check(values);
        new AcmeChecks(problems, wholeFile).check(values);
        new FleetChecks(problems, wholeFile).check(values);
        checkLifetimes(values, values, "");
        List<ConfigValues> rules = values.elements(ConfigKeys.REMAP);
        for (int i = 0; i < rules.size(); i++) {
            ConfigValues rule = rules.get(i);
            if (rule.isSet(ConfigKeys.CACHE_HEURISTIC_MIN_LIFETIME)
                    || rule.isSet(ConfigKeys.CACHE_HEURISTIC_MAX_LIFETIME)) {
                checkLifetimes(rule, rule.over(values), "remap[" + i + "].");
            }
        }
        new AdminChecks(problems, wholeFile).check(values);
        new LogChecks(problems, wholeFile).check(values);
        new AlarmChecks(problems, wholeFile).check(values);
        new TraceChecks(problems, wholeFile).check(values);
        checkMarkdown(values);
        checkHeartbeat(values);
        checkJavaHome(values);
        checkExpressions(values);
        warnOfMemory(values);
        warnOfOpenFiles(values);
    }

    /** Warns if the limit of open files is too low. It is no error, since the service may run with another limit. */
    private void warnOfOpenFiles(ConfigValues values) {
        String warning = values.isSet(ConfigKeys.LIMITS_CONNECTIONS) && !isBroken(ConfigKeys.LIMITS_CONNECTIONS)
                ? OpenFilesLimit.warning(values.get(ConfigKeys.LIMITS_CONNECTIONS))
                : null;
        if (warning != null) {
            problems.warning(at("limits.connections"), "limits.connections", warning);
        }
    }

    /**
     * Warns of a RAM tier above the memory of the machine. It is no error, since the configuration may be for another
     * machine.
     */
    private void warnOfMemory(ConfigValues values) {
        long ramSize = values.get(ConfigKeys.CACHE_RAM_SIZE);
        long memoryBytes = SystemMemory.totalBytes();
        if (values.isSet(ConfigKeys.CACHE_RAM_SIZE) && ramSize > memoryBytes) {
            problems.warning(
                    at("cache.ram_size"),
                    "cache.ram_size",
                    Units.formatSize(ramSize) + " is above the memory of this machine or control group, "
                            + Units.formatSize(memoryBytes));
        }
    }

    /** Reports an error if a rule mirrors requests to its own origin. */
    private void checkMirrors(ConfigValues values) {
        List<ConfigValues> rules = values.elements(ConfigKeys.REMAP);
        for (int i = 0; i < rules.size(); i++) {
            RuleUrl copies = rules.get(i).over(values).find(MirrorKeys.TO);
            RuleUrl to = rules.get(i).find(RemapKeys.TO);
            if (copies != null
                    && to != null
                    && copies.effectivePort() == to.effectivePort()
                    && String.valueOf(copies.host()).equals(to.host())
                    && rules.get(i).find(RemapKeys.ORIGINS) == null) {
                String path = "remap[" + i + "].mirror.to";
                Place rule = problems.placeOf("remap[" + i + "]", wholeFile);
                problems.error(
                        problems.placeOf(path, rule),
                        path,
                        copies.authority() + " is the origin of the rule, which would get each request twice");
            }
        }
    }

    private void checkHeartbeat(ConfigValues values) {
        if (isBroken(ConfigKeys.WORKER_HEARTBEAT_INTERVAL) || isBroken(ConfigKeys.WORKER_HEARTBEAT_TIMEOUT)) {
            return;
        }
        Duration least = values.get(ConfigKeys.WORKER_HEARTBEAT_INTERVAL).multipliedBy(2);
        Duration timeout = values.get(ConfigKeys.WORKER_HEARTBEAT_TIMEOUT);
        if (timeout.compareTo(least) < 0) {
            problems.error(
                    at("worker.heartbeat_timeout"),
                    "worker.heartbeat_timeout",
                    Units.formatDuration(timeout) + " is below the limit of two heartbeat_interval, "
                            + Units.formatDuration(least));
        }
    }

    private void checkMarkdown(ConfigValues values) {
        if (isBroken(HostDatabaseKeys.RETRY_TIME) || isBroken(HostDatabaseKeys.RETRY_TIME_MAX)) {
            return;
        }
        Duration first = values.get(HostDatabaseKeys.RETRY_TIME);
        Duration most = values.get(HostDatabaseKeys.RETRY_TIME_MAX);
        if (first.compareTo(most) > 0) {
            String path = (values.isSet(HostDatabaseKeys.RETRY_TIME_MAX)
                            ? HostDatabaseKeys.RETRY_TIME_MAX
                            : HostDatabaseKeys.RETRY_TIME)
                    .path();
            problems.error(
                    at(path),
                    path,
                    "retry_time " + Units.formatDuration(first) + " is above the limit of retry_time_max, "
                            + Units.formatDuration(most));
        }
    }

    private void checkListeners(List<ConfigValues> listeners, ConfigValues values) {
        Map<ListenAddress, Integer> seen = new HashMap<>();
        for (int i = 0; i < listeners.size(); i++) {
            ConfigValues listener = listeners.get(i);
            String path = "listen[" + i + "]";
            ListenAddress address = listener.find(ConfigKeys.LISTEN_ADDRESS);
            boolean isUnix = address != null && address.socket() != null;
            Integer first = address == null || (address.port() == 0 && !isUnix) ? null : seen.putIfAbsent(address, i);
            if (first != null) {
                problems.error(at(path), path, "listens on " + address + " as listen[" + first + "] does");
            }
            checkUnixSocket(path, isUnix, listener, values);
            checkTransparent(path + ".transparent", isUnix, listener, values);
            checkProxyProtocol(path + ".proxy_protocol", listener, values);
            checkHttp2(path, listener);
            checkReadable(path + ".tls.certificate", listener.find(ConfigKeys.LISTEN_CERTIFICATE));
            checkReadable(path + ".tls.key", listener.find(ConfigKeys.LISTEN_KEY));
        }
    }

    private void checkTransparent(String path, boolean isUnix, ConfigValues listener, ConfigValues values) {
        if (listener.get(TransparentKeys.LISTEN) == ListenerConfig.Transparency.OFF) {
            return;
        }
        if (isUnix) {
            problems.error(at(path), path, "is not for a Unix socket, whose connections have no addresses");
        } else if (values.get(ConfigKeys.WORKER_TRANSPORT) == WorkerConfig.Transport.NIO) {
            problems.error(at(path), path, "needs worker.transport: epoll, or auto on Linux");
        }
    }

    private void checkUnixSocket(String path, boolean isUnix, ConfigValues listener, ConfigValues values) {
        for (ConfigKey<?> key : List.of(UnixListenKeys.MODE, UnixListenKeys.OWNER)) {
            String name = path + key.path().substring(key.path().indexOf(']') + 1);
            if (!isUnix && listener.isSet(key) && !problems.isBroken(path + ".address")) {
                problems.error(
                        at(name), name, "is only for a Unix socket, such as address: unix:/run/millrace/http.sock");
            }
        }
        String owner = listener.find(UnixListenKeys.OWNER);
        if (owner != null && !OWNER.matcher(owner).matches()) {
            problems.error(
                    at(path + ".socket_owner"),
                    path + ".socket_owner",
                    "'" + owner + "' is not an owner; expected user, user:group or :group");
        }
        if (isUnix && values.get(ConfigKeys.WORKER_TRANSPORT) == WorkerConfig.Transport.NIO) {
            problems.error(
                    at(path + ".address"),
                    path + ".address",
                    "a Unix socket needs worker.transport: auto or epoll, because nio cannot serve it");
        }
    }

    private void checkHttp2(String path, ConfigValues listener) {
        boolean secure = (listener.isSet(ConfigKeys.LISTEN_CERTIFICATE) || listener.isSet(SharedTlsKeys.LISTEN_ENABLED))
                && listener.get(SharedTlsKeys.LISTEN_ENABLED);
        if (secure && listener.get(Http2Keys.LISTEN_CLEAR)) {
            problems.error(
                    at(path + ".h2c"),
                    path + ".h2c",
                    "is only for addresses without tls; with tls set http2, or remove h2c");
        } else if (!secure && listener.isSet(Http2Keys.LISTEN) && listener.get(Http2Keys.LISTEN)) {
            problems.error(at(path + ".http2"), path + ".http2", "needs tls; for HTTP/2 without tls, set h2c: true");
        }
    }

    private void checkProxyProtocol(String path, ConfigValues listener, ConfigValues values) {
        boolean on = listener.get(ProxyProtocolKeys.LISTEN) != ListenerConfig.ProxyProtocol.OFF;
        if (on && !values.isSet(ProxyProtocolKeys.ALLOW) && !isBroken(ProxyProtocolKeys.ALLOW)) {
            problems.error(
                    at(path), path, "needs access.proxy_protocol_allow, the addresses whose headers are trusted");
        }
    }

    private void checkReadable(String path, @Nullable Path file) {
        if (file != null && !Files.isReadable(file)) {
            problems.error(at(path), path, file + (Files.exists(file) ? ": permission denied" : ": no such file"));
        }
    }

    private void checkLifetimes(ConfigValues own, ConfigValues effective, String prefix) {
        for (ConfigKey<?> key :
                List.of(ConfigKeys.CACHE_HEURISTIC_MIN_LIFETIME, ConfigKeys.CACHE_HEURISTIC_MAX_LIFETIME)) {
            if (isBroken(key) || problems.isBroken(prefix + key.path())) {
                return;
            }
        }
        Duration least = effective.get(ConfigKeys.CACHE_HEURISTIC_MIN_LIFETIME);
        Duration most = effective.get(ConfigKeys.CACHE_HEURISTIC_MAX_LIFETIME);
        if (least.compareTo(most) > 0) {
            boolean minIsNew = own.isSet(ConfigKeys.CACHE_HEURISTIC_MIN_LIFETIME);
            String path = prefix
                    + (minIsNew ? ConfigKeys.CACHE_HEURISTIC_MIN_LIFETIME : ConfigKeys.CACHE_HEURISTIC_MAX_LIFETIME)
                            .path();
            problems.error(
                    at(path),
                    path,
                    minIsNew
                            ? Units.formatDuration(least) + " is above the limit of heuristic_max_lifetime, "
                                    + Units.formatDuration(most)
                            : Units.formatDuration(most) + " is below the limit of heuristic_min_lifetime, "
                                    + Units.formatDuration(least));
        }
    }

    /** Checks the total size of all regular expressions. The size of each is checked when it is read. */
    private void checkExpressions(ConfigValues values) {
        long steps = 0;
        List<ConfigValues> rules = values.elements(ConfigKeys.REMAP);
        for (int i = 0; i < rules.size(); i++) {
            steps = addSteps(steps, RemapRuleConfig.expressions(rules.get(i)), "remap[" + i + "]");
        }
        List<ConfigValues> cacheRules = values.elements(CacheRulesKeys.CACHE_RULES);
        for (int i = 0; i < cacheRules.size(); i++) {
            steps = addSteps(steps, CacheRuleConfig.expressions(cacheRules.get(i)), "cache_rules[" + i + "]");
        }
        steps = addSteps(steps, RulesChecks.expressions(values, RuleKeys.RULES), "rules");
        for (int i = 0; i < rules.size(); i++) {
            if (rules.get(i).isSet(RuleKeys.OF_REMAP)) {
                List<String> expressions = RulesChecks.expressions(rules.get(i), RuleKeys.OF_REMAP);
                steps = addSteps(steps, expressions, "remap[" + i + "].rules");
            }
        }
        steps = addSteps(steps, RequestLimitChecks.expressions(values), "request_limits");
        steps = addSteps(steps, GuardChecks.expressions(values), "signed_urls");
        addSteps(steps, EdgeChecks.expressions(values), "cors.origins");
    }

    /** Adds the program steps of one rule's expressions, and reports the first rule that exceeds the limit. */
    private long addSteps(long before, List<String> expressions, String path) {
        if (expressions.isEmpty()) {
            return before;
        }
        long after = before + Regex.steps(expressions);
        if (before <= Regex.TOTAL_STEPS_MAX && after > Regex.TOTAL_STEPS_MAX) {
            problems.error(
                    at(path),
                    path,
                    "the expressions up to this rule need " + after + " program steps, limit=" + Regex.TOTAL_STEPS_MAX
                            + "; use fewer or simpler expressions");
        }
        return after;
    }

    private void checkJavaHome(ConfigValues values) {
        Path home = values.find(ConfigKeys.WORKER_JAVA_HOME);
        if (home != null && !Files.isExecutable(home.resolve("bin/java"))) {
            problems.error(at("worker.java_home"), "worker.java_home", home + " has no executable bin/java");
        }
    }

    private boolean isBroken(ConfigKey<?> key) {
        return problems.isBroken(key.path());
    }

    private Place at(String path) {
        return problems.placeOf(path, wholeFile);
    }
}
