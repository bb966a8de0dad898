package io.millrace.proxy.config.check;

import io.millrace.proxy.config.dns.DnsConfig;
import io.millrace.proxy.config.dns.DnsKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.value.Units;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Checks name servers and domains. */
final class DnsChecks {
    private final ConfigProblems problems;
    private final Place wholeFile;

    DnsChecks(ConfigProblems problems, Place wholeFile) {
        this.problems = problems;
        this.wholeFile = wholeFile;
    }

    void check(ConfigValues values) {
        checkServers("dns.name_servers", values.find(DnsKeys.NAME_SERVERS));
        List<ConfigValues> split = values.elements(DnsKeys.SPLIT);
        Map<String, Integer> seen = new HashMap<>();
        for (int i = 0; i < split.size(); i++) {
            String path = "dns.split[" + i + "]";
            checkNotEmpty(path + ".domains", split.get(i).find(DnsKeys.SPLIT_DOMAINS));
            checkNotEmpty(path + ".name_servers", split.get(i).find(DnsKeys.SPLIT_NAME_SERVERS));
            checkServers(path + ".name_servers", split.get(i).find(DnsKeys.SPLIT_NAME_SERVERS));
            checkDomains(path + ".domains", split.get(i).find(DnsKeys.SPLIT_DOMAINS), i, seen);
        }
        checkHostsFile(values.find(DnsKeys.HOSTS_FILE));
        checkTtls(values);
    }

    private void checkNotEmpty(String path, @Nullable List<String> texts) {
        if (texts == null && !problems.isBroken(path)) {
            error(path, "is empty");
        }
    }

    private void checkServers(String path, @Nullable List<String> texts) {
        if (texts == null) {
            return;
        }
        try {
            List<?> servers = DnsConfig.servers(texts);
            if (servers.stream().distinct().count() < servers.size()) {
                error(path, "contains a name server twice");
            }
        } catch (InvalidValueException e) {
            error(path, e.problem());
        }
    }

    private void checkDomains(String path, @Nullable List<String> texts, int index, Map<String, Integer> seen) {
        if (texts == null) {
            return;
        }
        for (String text : texts) {
            try {
                Integer first = seen.putIfAbsent(DnsConfig.domain(text), index);
                if (first != null) {
                    error(path, "'" + text + "' is already in dns.split[" + first + "]");
                }
            } catch (InvalidValueException e) {
                error(path, e.problem());
            }
        }
    }

    private void checkHostsFile(@Nullable Path file) {
        if (file != null && !Files.isReadable(file)) {
            error("dns.hosts_file", file + (Files.exists(file) ? ": permission denied" : ": no such file"));
        }
    }

    private void checkTtls(ConfigValues values) {
        if (problems.isBroken("dns.ttl_min") || problems.isBroken("dns.ttl_max")) {
            return;
        }
        if (values.get(DnsKeys.TTL_MIN).compareTo(values.get(DnsKeys.TTL_MAX)) > 0) {
            boolean isMaxSet = values.isSet(DnsKeys.TTL_MAX);
            error(
                    isMaxSet ? "dns.ttl_max" : "dns.ttl_min",
                    Units.formatDuration(values.get(isMaxSet ? DnsKeys.TTL_MAX : DnsKeys.TTL_MIN))
                            + (isMaxSet ? " is below the limit of ttl_min, " : " is above the limit of ttl_max, ")
                            + Units.formatDuration(values.get(isMaxSet ? DnsKeys.TTL_MIN : DnsKeys.TTL_MAX)));
        }
    }

    private void error(String path, String message) {
        problems.error(problems.placeOf(path, wholeFile), path, message);
    }
}
