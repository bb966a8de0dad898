package io.millrace.proxy.config.check;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.ForwardProxyKeys;
import io.millrace.proxy.config.edge.SplitKeys;
import io.millrace.proxy.config.fleet.FleetConfig;
import io.millrace.proxy.config.fleet.FleetKeys;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.origins.OriginGroupConfig;
import io.millrace.proxy.config.origins.OriginGroupKeys;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import io.millrace.proxy.config.remap.RemapKeys;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.config.value.SocketPath;
import io.millrace.proxy.config.value.Units;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Checks origin groups and the rules that use them; warns of groups that no rule uses. */
public final class OriginGroupChecks {
    private static final int NAME_MAX = 64;

    /** Limit of hosts in one group, since each host adds metrics and makes the selection slower. */
    private static final int HOSTS_MAX = 256;

    private final ConfigProblems problems;
    private final Place wholeFile;

    public OriginGroupChecks(ConfigProblems problems, Place wholeFile) {
        this.problems = problems;
        this.wholeFile = wholeFile;
    }

    void check(ConfigValues values) {
        List<ConfigValues> groups = values.elements(OriginGroupKeys.ORIGINS);
        Map<String, Integer> names = new HashMap<>();
        for (int i = 0; i < groups.size(); i++) {
            checkGroup(groups.get(i), "origins[" + i + "]", i, names);
            checkTier(groups.get(i), "origins[" + i + "]", values);
        }
        List<ConfigValues> rules = values.elements(ConfigKeys.REMAP);
        for (int i = 0; i < rules.size(); i++) {
            checkName(rules.get(i).find(RemapKeys.ORIGINS), "remap[" + i + "].origins", names);
            List<ConfigValues> branches = rules.get(i).elements(SplitKeys.SPLIT);
            for (int j = 0; j < branches.size(); j++) {
                String path = "remap[" + i + "].split[" + j + "].origins";
                checkName(branches.get(j).find(SplitKeys.ORIGINS), path, names);
            }
        }
        checkForwarding(values, groups, names);
    }

    private void checkName(@Nullable String name, String path, Map<String, Integer> names) {
        if (name != null && !names.containsKey(name) && !problems.isBroken("origins")) {
            problems.error(
                    at(path),
                    path,
                    "no group of origins is named '" + name + "'",
                    problems.closest(name, names.keySet()));
        }
    }

    /**
     * Refuses a group for forwarding if its hosts are not proxies. Other servers could not determine which host the
     * client has requested.
     */
    private void checkForwarding(ConfigValues values, List<ConfigValues> groups, Map<String, Integer> names) {
        String path = ForwardProxyKeys.ORIGINS.path();
        String name = values.find(ForwardProxyKeys.ORIGINS);
        if (name == null || problems.isBroken("origins")) {
            return;
        }
        Integer index = names.get(name);
        if (index == null) {
            problems.error(
                    at(path),
                    path,
                    "no group of origins is named '" + name + "'",
                    problems.closest(name, names.keySet()));
        } else if (!groups.get(index).get(OriginGroupKeys.PARENT_IS_PROXY)) {
            error(
                    path,
                    "the hosts of origins[" + index + "] '" + name
                            + "' are not proxies; set parent_is_proxy: true in that group, or name another group");
        }
    }

    private void checkGroup(ConfigValues group, String path, int index, Map<String, Integer> names) {
        String name = group.find(OriginGroupKeys.NAME);
        if (name != null) {
            Integer first = names.putIfAbsent(name, index);
            if (first != null) {
                error(path + ".name", "'" + name + "' is already the name of origins[" + first + "]");
            }
            if (!isName(name)) {
                error(
                        path + ".name",
                        "'" + name + "' must be at most " + NAME_MAX + " lower-case letters, digits, '-' and '_'");
            }
        }
        if (group.isSet(OriginGroupKeys.HASH_KEY)
                && group.get(OriginGroupKeys.POLICY) != OriginGroupConfig.Policy.CONSISTENT_HASH) {
            error(path + ".hash_key", "is only for policy: consistent_hash");
        }
        checkRings(group, path);
        if (group.get(OriginGroupKeys.RETRY_TIME).compareTo(group.get(OriginGroupKeys.RETRY_TIME_MAX)) > 0) {
            boolean isMax = group.isSet(OriginGroupKeys.RETRY_TIME_MAX);
            error(
                    path + (isMax ? ".markdown.retry_time_max" : ".markdown.retry_time"),
                    Units.formatDuration(group.get(isMax ? OriginGroupKeys.RETRY_TIME_MAX : OriginGroupKeys.RETRY_TIME))
                            + (isMax
                                    ? " is below the limit of retry_time, "
                                    : " is above the limit of retry_time_max, ")
                            + Units.formatDuration(
                                    group.get(isMax ? OriginGroupKeys.RETRY_TIME : OriginGroupKeys.RETRY_TIME_MAX)));
        }
        checkHealth(group, path);
        checkHosts(group, path);
    }

    private void checkRings(ConfigValues group, String path) {
        OriginGroupConfig.RingMode mode = group.get(OriginGroupKeys.RING_MODE);
        if (mode == OriginGroupConfig.RingMode.EXHAUST_RING || problems.isBroken(path + ".hosts")) {
            return;
        }
        String word = mode.name().toLowerCase(Locale.ROOT);
        boolean hasBackup =
                group.elements(OriginGroupKeys.HOSTS).stream().anyMatch(host -> host.get(OriginGroupKeys.HOST_BACKUP));
        if (group.get(OriginGroupKeys.POLICY) != OriginGroupConfig.Policy.CONSISTENT_HASH) {
            error(path + ".ring_mode", word + " is only for policy: consistent_hash, which assigns a host to each URL");
        } else if (mode == OriginGroupConfig.RingMode.ALTERNATE_RING && !hasBackup) {
            error(path + ".ring_mode", "alternate_ring needs a host with backup: true");
        } else if (mode == OriginGroupConfig.RingMode.PEERING_RING
                && !hasBackup
                && !group.get(OriginGroupKeys.GO_DIRECT)) {
            error(
                    path + ".ring_mode",
                    "peering_ring needs a host with backup: true, or go_direct: true, for the URLs that this proxy owns");
        }
    }

    private void checkHealth(ConfigValues group, String path) {
        if (group.isSet(OriginGroupKeys.HEALTH_PATH) || problems.isBroken(path + ".health_check.path")) {
            return;
        }
        for (ConfigKey<?> key : List.of(
                OriginGroupKeys.HEALTH_HOST,
                OriginGroupKeys.HEALTH_INTERVAL,
                OriginGroupKeys.HEALTH_TIMEOUT,
                OriginGroupKeys.HEALTHY,
                OriginGroupKeys.UNHEALTHY,
                OriginGroupKeys.HEALTH_STATUS)) {
            if (group.isSet(key)) {
                error(
                        path + ".health_check." + key.name(),
                        "needs health_check.path, because there are no checks without a path");
                return;
            }
        }
    }

    /** @param general the settings outside of groups and rules */
    private void checkTier(ConfigValues group, String path, ConfigValues general) {
        String tier = group.find(OriginGroupKeys.FLEET_TIER);
        if (tier == null) {
            return;
        }
        String key = path + ".hosts_from.fleet_tier";
        if (!FleetConfig.isName(tier)) {
            error(
                    key,
                    "'" + tier + "' is not a name of a tier: 1 to " + FleetConfig.NAME_LENGTH_MAX
                            + " letters, digits, '-' and '_' are permitted");
        } else if (!general.isSet(FleetKeys.NAME)) {
            if (!problems.isAnyBrokenBelow("fleet")) {
                error(key, "needs the section fleet, because the hosts are nodes of this node's fleet");
            }
        } else if (!general.isSet(ConfigKeys.VIA_NAME)) {
            problems.warning(
                    at(key),
                    key,
                    "needs a via.name of its own on each node; a node with the same name refuses the requests as a loop");
        }
    }

    private void checkHosts(ConfigValues group, String path) {
        if (problems.isBroken(path + ".hosts") || problems.isAnyBrokenBelow(path)) {
            return;
        }
        List<ConfigValues> hosts = group.elements(OriginGroupKeys.HOSTS);
        boolean isOfFleet = group.isSet(OriginGroupKeys.FLEET_TIER);
        boolean needsNames = group.isSet(OriginGroupKeys.HEALTH_PATH) && !group.isSet(OriginGroupKeys.HEALTH_HOST);
        Fault fault = faultOf(hosts, needsNames, isOfFleet);
        if (fault != null) {
            error(path + fault.path, fault.message);
        }
    }

    /**
     * A problem of a group.
     *
     * @param path path below the group
     */
    private record Fault(String path, String message) {}

    /**
     * @param needsNames whether https hosts need names, because no host name for health checks is configured
     * @param isOfFleet whether nodes of the fleet are further hosts, which are not backups
     */
    private static @Nullable Fault faultOf(List<ConfigValues> hosts, boolean needsNames, boolean isOfFleet) {
        if (hosts.isEmpty() && !isOfFleet) {
            return new Fault(".hosts", "is empty; a group needs at least one host, or hosts_from");
        }
        if (hosts.size() > HOSTS_MAX) {
            return new Fault(".hosts", hosts.size() + " hosts are above the limit of " + HOSTS_MAX);
        }
        Map<String, Integer> seen = new HashMap<>();
        boolean hasPrimary = isOfFleet;
        for (int i = 0; i < hosts.size(); i++) {
            RuleUrl url = hosts.get(i).get(OriginGroupKeys.HOST_URL);
            Integer first = seen.putIfAbsent(url.scheme() + "://" + url.host() + ":" + url.effectivePort(), i);
            if (first != null) {
                return new Fault(".hosts[" + i + "]", url.authority() + " is already hosts[" + first + "]");
            }
            if (needsNames && "https".equals(url.scheme()) && url.isAddress()) {
                return new Fault(
                        ".hosts[" + i + "]",
                        url.authority()
                                + " is an address without a name for the certificate; set the name with health_check.host");
            }
            String unusable = SocketPath.problem(hosts.get(i).find(OriginGroupKeys.HOST_UNIX_SOCKET));
            if (unusable != null) {
                return new Fault(".hosts[" + i + "].unix_socket", unusable);
            }
            hasPrimary |= !hosts.get(i).get(OriginGroupKeys.HOST_BACKUP);
        }
        return hasPrimary
                ? null
                : new Fault(".hosts", "every host is a backup; set backup: false for at least one host");
    }

    private static boolean isName(String name) {
        return name.length() <= NAME_MAX
                && name.chars().allMatch(c -> (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_');
    }

    /** Warns of groups that no request uses, and of sibling proxies that would refuse each other's requests. */
    public void warn(ProxyConfig config) {
        Set<String> used = new HashSet<>();
        for (RemapRuleConfig rule : config.remap()) {
            if (rule.origins() != null) {
                used.add(rule.origins());
            }
        }
        for (ConfigValues rule : config.values().elements(ConfigKeys.REMAP)) {
            for (ConfigValues branch : rule.elements(SplitKeys.SPLIT)) {
                String name = branch.find(SplitKeys.ORIGINS);
                if (name != null) {
                    used.add(name);
                }
            }
        }
        if (config.forwardProxy().origins() != null) {
            used.add(config.forwardProxy().origins());
        }
        List<OriginGroupConfig> groups = config.originGroups();
        for (int i = 0; i < groups.size(); i++) {
            if (!used.contains(groups.get(i).name())) {
                String path = "origins[" + i + "]";
                problems.warning(
                        at(path), path, "is never used; neither a rule of remap nor forward_proxy.origins names it");
            }
            if (groups.get(i).ringMode() == OriginGroupConfig.RingMode.PEERING_RING
                    && config.via().name().equals(ConfigKeys.VIA_NAME.defaultValue())) {
                String path = "origins[" + i + "].ring_mode";
                problems.warning(
                        at(path),
                        path,
                        "each sibling needs its own via.name; siblings with the same name refuse each other's requests (508)");
            }
        }
    }

    private void error(String path, String message) {
        problems.error(at(path), path, message);
    }

    /** Returns the place of the key, or of its section if the key was not set. */
    private Place at(String path) {
        int dot = path.lastIndexOf('.');
        return problems.placeOf(path, dot < 0 ? wholeFile : problems.placeOf(path.substring(0, dot), wholeFile));
    }
}
