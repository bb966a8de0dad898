package io.millrace.proxy.admin.vendor;

import io.millrace.proxy.admin.resource.AdminException;
import java.util.List;
import java.util.Set;

/** The sites of the rules: {@code remap[].site}, or the requested host for rules without it. Thread-safe. */
public interface SiteSource {
    /** Returns true if a rule belongs to the site. */
    boolean isKnown(String site);

    /**
     * Returns the hosts of a site, each with its port if that is not the default.
     *
     * @throws AdminException if a rule of the site matches hosts that the configuration does not name
     */
    List<String> hosts(String site) throws AdminException;

    /**
     * Returns the sites of the rules that may map a URL.
     *
     * @param isWholeHost whether to include rules for other paths of the same host
     * @throws AdminException if the text is not a URL
     */
    Set<String> sites(String url, boolean isWholeHost) throws AdminException;
}
