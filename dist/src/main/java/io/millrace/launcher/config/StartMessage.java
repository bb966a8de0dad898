package io.millrace.launcher.config;

import io.millrace.launcher.build.BuildVersion;
import io.millrace.launcher.process.WorkerStatus;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.StorageConfig;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.observe.log.output.LogOutputConfig;
import io.millrace.worker.control.ControlMessage;
import io.millrace.worker.control.ListenerSockets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The message that {@code millrace run} prints when the first worker serves. Has at most ten lines.
 *
 * @param config the configuration, after default paths were filled in
 * @param configName name of the configuration, such as its file
 * @param listeners listeners with their bound ports
 * @param adminSocket path of the admin socket
 * @param keepsSockets whether the launcher holds the listening sockets. Otherwise workers bind them, and connections
 *     are refused during a restart
 * @param demo whether to print example requests
 */
public record StartMessage(
        ProxyConfig config,
        String configName,
        List<ListenerSockets> listeners,
        Path adminSocket,
        boolean keepsSockets,
        boolean demo) {

    /**
     * Returns the lines of the message.
     *
     * @param dashboard URL of the dashboard with a one-time code; null for none
     */
    public List<String> lines(long launcherPid, WorkerStatus worker, @Nullable String dashboard) {
        ControlMessage.@Nullable Ready ready = worker.ready();
        List<String> lines = new ArrayList<>();
        lines.add("Millrace " + BuildVersion.ofJar() + " listens on "
                + listeners.stream().map(ListenerSockets::boundAddress).collect(Collectors.joining(", ")));
        lines.add("  remap    " + rules());
        lines.add("  cache    " + volumes() + "RAM " + size(config.cache().ramBytes()));
        lines.add("  log      " + logs());
        lines.add("  config   " + configName);
        lines.add("  admin    " + adminSocket
                + (config.admin().listen() == null ? "" : ", " + config.admin().listen()));
        if (ready != null) {
            lines.add(
                    "  runs on  JDK " + ready.java() + ", " + ready.transport() + ", TLS " + ready.tls() + "; launcher "
                            + launcherPid + ", worker " + worker.pid()
                            + (keepsSockets ? "" : " (no epoll: connections are refused during a restart)"));
        }
        if (demo && !listeners.isEmpty()) {
            String bound = listeners.get(0).boundAddress();
            String url = "http://localhost:" + bound.substring(bound.lastIndexOf(':') + 1);
            lines.add("Try twice: curl -si " + url + "/ | head -n 20");
            lines.add("           curl -si " + url + "/slow | head -n 20");
        }
        if (dashboard != null) {
            lines.add("Dashboard, one login within 2 minutes: " + dashboard);
        }
        return lines;
    }

    private String rules() {
        if (config.remap().size() == 1) {
            RemapRuleConfig rule = config.remap().get(0);
            return rule.from() + " to " + rule.to();
        }
        return config.remap().size() + " rules";
    }

    private String logs() {
        List<LogOutputConfig> logs = config.log().accessLogs();
        if (!logs.isEmpty()) {
            return logs.size()
                    + (logs.size() == 1 ? " log: " : " logs: ")
                    + logs.stream().map(LogOutputConfig::name).collect(Collectors.joining(", "));
        }
        return config.log().accessEnabled() ? String.valueOf(config.log().accessPath()) : "none";
    }

    private String volumes() {
        StringBuilder text = new StringBuilder();
        for (StorageConfig volume : config.storage()) {
            text.append(volume.path())
                    .append(" (")
                    .append(volume.sizeBytes() == 0 ? "whole device" : size(volume.sizeBytes()))
                    .append("), ");
        }
        return text.toString();
    }

    /** Formats a size in the largest unit in which it is at least 1. Has at most one decimal. */
    static String size(long bytes) {
        String[] units = {"B", "KiB", "MiB", "GiB", "TiB"};
        int unit = 0;
        long tenths = bytes * 10;
        while (tenths >= 10240 && unit < units.length - 1) {
            tenths /= 1024;
            unit++;
        }
        return tenths / 10 + (tenths % 10 == 0 ? "" : "." + tenths % 10) + " " + units[unit];
    }
}
