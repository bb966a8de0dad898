package io.millrace.proxy.admin.data;

import io.millrace.proxy.config.key.AlarmKeys;
import io.millrace.proxy.exchange.forward.OriginRequests;
import io.millrace.proxy.fetch.Origin;
import io.millrace.proxy.observe.alarm.Alarm;
import io.millrace.proxy.observe.alarm.AlarmKind;
import io.millrace.proxy.observe.alarm.AlarmSource;
import io.millrace.proxy.origin.HostDatabase;
import io.millrace.proxy.origin.OriginGroup;
import io.millrace.proxy.origin.OriginHealth;
import io.millrace.proxy.origin.OriginHost;
import io.millrace.proxy.remap.Mapped;
import io.millrace.proxy.server.ProxyView;
import io.millrace.proxy.tls.ServerCertificate;
import io.millrace.proxy.tls.TlsReport;
import io.millrace.store.StoreStatistics;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * The alarms that one proxy can detect: disks, groups of origins, certificates and logs. It computes them from the
 * present state at each call, so that an alarm ends with its cause. Thread-safe.
 */
public final class ProxyAlarms implements AlarmSource {
    private final ProxyView proxy;

    /** Creates the alarms of a proxy. */
    public ProxyAlarms(ProxyView proxy) {
        this.proxy = proxy;
    }

    @Override
    public List<Alarm> alarms() {
        List<Alarm> alarms = new ArrayList<>();
        addDisks(alarms);
        addGroups(alarms);
        addOrigins(alarms);
        addCertificates(alarms);
        proxy.logFailures()
                .forEach((log, failure) -> alarms.add(new Alarm(AlarmKind.LOG_TARGET_DOWN, log, failure, -1)));
        return alarms;
    }

    private void addDisks(List<Alarm> alarms) {
        for (StoreStatistics.Volume volume : proxy.store().statistics().volumes()) {
            if (volume.state() == StoreStatistics.State.OFFLINE) {
                alarms.add(new Alarm(AlarmKind.DISK_OFFLINE, volume.path().toString(), volume.outOfUse(), -1));
            }
        }
    }

    private void addGroups(List<Alarm> alarms) {
        long nowMillis = proxy.shared().clock().millis();
        int groupsDown = 0;
        for (OriginGroup group : proxy.shared().groups().all()) {
            List<OriginHost> hosts = group.hosts();
            boolean isDown = !hosts.isEmpty()
                    && hosts.stream().noneMatch(host -> host.health().isUp(nowMillis));
            if (isDown && groupsDown++ < Alarm.OF_A_KIND_MAX) {
                alarms.add(new Alarm(AlarmKind.ORIGIN_GROUP_DOWN, group.name(), reason(hosts, nowMillis), -1));
            }
        }
    }

    /**
     * Adds the single-host origins that are marked down. These are hosts that rules name directly, without a group.
     * Hosts that clients of the forward proxy request are left out, because the operator does not run them.
     */
    private void addOrigins(List<Alarm> alarms) {
        List<HostDatabase.Report> down = proxy.shared().hosts().down();
        if (down.isEmpty()) {
            return;
        }
        Set<Origin> ruleOrigins = proxy.settings().remap().rules().stream()
                .filter(rule ->
                        rule.config().verb().isForward() && rule.config().origins() == null && !rule.isForwarding())
                .map(rule -> OriginRequests.origin(new Mapped(rule)))
                .collect(Collectors.toSet());
        down.stream()
                .filter(report -> ruleOrigins.contains(report.origin()))
                .limit(Alarm.OF_A_KIND_MAX)
                .forEach(report -> alarms.add(new Alarm(
                        AlarmKind.ORIGIN_DOWN,
                        report.origin().toString(),
                        report.state().reason() + ", failed connections in a row: "
                                + report.state().failures() + "; see millctl host show "
                                + report.origin().host(),
                        -1)));
    }

    private static String reason(List<OriginHost> hosts, long nowMillis) {
        OriginHost first = hosts.get(0);
        OriginHealth health = first.health();
        OriginHealth.ManualDown manualDown = health.isManuallyDown(nowMillis) ? health.manualDown() : null;
        String why = manualDown == null ? health.reason() : "marked down by an operator, " + manualDown.reason();
        String count = hosts.size() == 1 ? "its only host is down: " : "all " + hosts.size() + " hosts are down: ";
        return count + first.origin().authority() + " (" + why + ")" + (hosts.size() == 1 ? "" : " and others");
    }

    private void addCertificates(List<Alarm> alarms) {
        long now = TimeUnit.MILLISECONDS.toSeconds(proxy.shared().clock().millis());
        long notice = TimeUnit.DAYS.toSeconds(proxy.config().values().get(AlarmKeys.CERTIFICATE_DAYS));
        List<TlsReport.Line> ending = proxy.serverTls().report().lines().stream()
                .filter(line -> line.facts() != null && !line.names().isEmpty())
                .filter(line -> facts(line).endsWithin(now, notice))
                .sorted(Comparator.comparingLong(line -> facts(line).expirySeconds()))
                .toList();
        List<Alarm> listed = new ArrayList<>();
        for (TlsReport.Line line : ending) {
            long remainingSeconds = facts(line).expirySeconds() - now;
            Alarm alarm = new Alarm(
                    AlarmKind.CERTIFICATE_EXPIRING,
                    line.names().get(0),
                    (remainingSeconds <= 0 ? "expired on " : "expires on ")
                            + Instant.ofEpochSecond(facts(line).expirySeconds()) + ": "
                            + line.files().certificate(),
                    -1);
            if (listed.size() < Alarm.OF_A_KIND_MAX && listed.stream().noneMatch(alarm::isSameAs)) {
                listed.add(alarm);
            }
        }
        alarms.addAll(listed);
    }

    private static ServerCertificate.Facts facts(TlsReport.Line line) {
        return Objects.requireNonNull(line.facts());
    }
}
