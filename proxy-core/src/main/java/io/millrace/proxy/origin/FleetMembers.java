package io.millrace.proxy.origin;

import io.millrace.proxy.config.fleet.FleetConfig;
import io.millrace.proxy.config.origins.OriginGroupConfig;
import io.millrace.proxy.config.origins.OriginGroupConfig.Host;
import io.millrace.proxy.config.origins.OriginGroupConfig.RingMode;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.value.RuleUrl;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The nodes (proxies) of this node's fleet that accept requests from other nodes. Origin groups with the setting
 * {@code hosts_from} use these nodes as hosts. Immutable.
 *
 * @param all the nodes, by name
 */
public record FleetMembers(List<Member> all) {
    /** No nodes. */
    public static final FleetMembers NONE = new FleetMembers(List.of());

    /** Limit of hosts in a group. Further nodes are ignored. */
    private static final int HOSTS_MAX = 256;

    private static final String SELF = "self";
    private static final String OTHER = "other";
    /** Number of words in a line of the text. */
    private static final int WORDS = 4;

    /**
     * A node. Immutable.
     *
     * @param node its name
     * @param tier its tier
     * @param address URL at which it accepts requests
     * @param self whether it is this node
     */
    public record Member(String node, String tier, RuleUrl address, boolean self) {}

    /** Sorts the nodes by name. */
    public FleetMembers {
        all = all.stream().sorted(Comparator.comparing(Member::node)).toList();
    }

    /** Returns the nodes as text: a line for each with name, tier, address, and the word self or other. */
    public String text() {
        StringBuilder text = new StringBuilder();
        for (Member member : all) {
            text.append(member.node()).append(' ').append(member.tier()).append(' ');
            text.append(member.address().authority()).append(' ');
            text.append(member.self() ? SELF : OTHER).append('\n');
        }
        return text.toString();
    }

    /**
     * Parses the result of {@link #text}.
     *
     * @throws InvalidValueException if the text has another format
     */
    public static FleetMembers parse(String text) throws InvalidValueException {
        List<Member> members = new ArrayList<>();
        for (String line : text.lines().toList()) {
            String[] words = line.split(" ", -1);
            boolean isComplete = words.length == WORDS
                    && FleetConfig.isName(words[0])
                    && FleetConfig.isName(words[1])
                    && (words[3].equals(SELF) || words[3].equals(OTHER));
            if (!isComplete) {
                throw new InvalidValueException("'" + line + "' is not a node: expected NAME TIER ADDRESS self|other");
            }
            members.add(new Member(words[0], words[1], RuleUrl.parseOrigin(words[2]), words[3].equals(SELF)));
        }
        return new FleetMembers(members);
    }

    /** Returns the groups. A group that names a tier of the fleet gets nodes of this tier as further hosts. */
    List<OriginGroupConfig> addedTo(List<OriginGroupConfig> groups) {
        return groups.stream().map(this::addedTo).toList();
    }

    private OriginGroupConfig addedTo(OriginGroupConfig group) {
        String tier = group.fleetTier();
        if (tier == null) {
            return group;
        }
        List<Host> hosts = new ArrayList<>(group.hosts());
        Set<String> authorities = new HashSet<>();
        hosts.forEach(host -> authorities.add(host.url().authority()));
        boolean includesSelf = group.ringMode() == RingMode.PEERING_RING;
        for (Member member : all) {
            boolean isHost = member.tier().equals(tier) && (includesSelf || !member.self());
            if (isHost
                    && hosts.size() < HOSTS_MAX
                    && authorities.add(member.address().authority())) {
                hosts.add(new Host(member.address(), 1, false, member.self(), null));
            }
        }
        return group.withHosts(hosts);
    }
}
