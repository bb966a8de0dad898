package io.millrace.proxy.admin.vendor;

import io.millrace.proxy.admin.resource.AdminException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The sites of the rules: {@code remap[].site}, or the requested host for rules without it. Thread-safe. */
public interface SiteSource {
    /**
     * A site, with one of the requested URLs that belong to it. Immutable.
     *
     * @param site name of the site
     * @param url one of the URLs that belong to the site
     * @param rule the rule that maps this URL; null if no rule maps it
     */
    record Owner(String site, String url, @Nullable OwningRule rule) {}

    /**
     * A remap rule that assigns URLs to a site. Immutable.
     *
     * @param text its place and pattern in the configuration
     * @param isForEveryHost whether the rule has no host
     */
    record OwningRule(String text, boolean isForEveryHost) {}

    /** Returns true if a rule belongs to the site. */
    boolean isKnown(String site);

    /**
     * Returns the hosts of a site, each with its port if that is not the default.
     *
     * @throws AdminException if a rule of the site matches hosts that the configuration does not name
     */
    List<String> hosts(String site) throws AdminException;

    /**
     * Returns the sites of the rules that may map a URL, one for each rule. The URL counts with both schemes, because a
     * purge covers both. A URL that no rule maps belongs to the site of its host.
     *
     * @param isWholeHost whether to include rules for other paths of the same host
     * @throws AdminException if the text is not a URL
     */
    List<Owner> owners(String url, boolean isWholeHost) throws AdminException;
}
