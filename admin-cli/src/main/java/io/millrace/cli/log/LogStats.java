package io.millrace.cli.log;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What logs say of all sites together and of each, as Traffic Server's {@code traffic_logstats}. Confined to one thread. */
public final class LogStats {
    /** Hosts that are told apart; clients can make up any. */
    private static final int HOSTS_MAX = 4000;

    /** Of a name that a client has made up, the rest is of no use. */
    private static final int HOST_LENGTH_MAX = 255;

    private final SiteStats total = new SiteStats();
    private final Map<String, SiteStats> sites = new HashMap<>();
    private final SiteStats others = new SiteStats();
    private final TopUrls urls;
    private long unread;
    private long firstMillis = Long.MAX_VALUE;
    private long lastMillis = Long.MIN_VALUE;

    /** A site. Immutable but for the figures. */
    public record Site(String host, SiteStats stats) {}

    /** @param urls how many of the URLs that are asked for most are wanted; 0 for none */
    public LogStats(int urls) {
        this.urls = new TopUrls(urls);
    }

    /** Takes a line in; one that no format recognises is counted alone. */
    public void add(@Nullable LogLine line) {
        if (line == null) {
            unread++;
            return;
        }
        total.add(line);
        String host = line.host();
        if (host != null) {
            site(host.length() > HOST_LENGTH_MAX ? host.substring(0, HOST_LENGTH_MAX) : host)
                    .add(line);
        }
        urls.add(line);
        if (line.timeMillis() >= 0) {
            firstMillis = Math.min(firstMillis, line.timeMillis());
            lastMillis = Math.max(lastMillis, line.timeMillis());
        }
    }

    private SiteStats site(String host) {
        SiteStats site = sites.get(host);
        if (site == null) {
            if (sites.size() >= HOSTS_MAX) {
                return others;
            }
            site = new SiteStats();
            sites.put(host, site);
        }
        return site;
    }

    /** All sites together. */
    public SiteStats total() {
        return total;
    }

    /** Those with most requests first. */
    public List<Site> sites(int max) {
        List<Site> all = new ArrayList<>();
        sites.forEach((host, stats) -> all.add(new Site(host, stats)));
        all.sort(Comparator.comparingLong((Site site) -> site.stats().all().requests())
                .reversed()
                .thenComparing(Site::host));
        return List.copyOf(all.subList(0, Math.min(max, all.size())));
    }

    /** How many sites there are. */
    public int siteCount() {
        return sites.size();
    }

    /** Requests for hosts that came when there was no more room to tell them apart. */
    public long otherRequests() {
        return others.all().requests();
    }

    /** The URLs that are asked for most. */
    public List<TopUrls.Entry> urls() {
        return urls.top();
    }

    /** Lines that no format recognises. */
    public long unread() {
        return unread;
    }

    /** The first arrival in epoch milliseconds; -1 for none. */
    public long firstMillis() {
        return firstMillis == Long.MAX_VALUE ? -1 : firstMillis;
    }

    /** The last one. */
    public long lastMillis() {
        return lastMillis == Long.MIN_VALUE ? -1 : lastMillis;
    }
}
