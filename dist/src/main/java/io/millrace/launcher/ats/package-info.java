/**
 * The importer of a Traffic Server configuration directory into one {@code millrace.yaml}. A report lists every line
 * with the resulting keys, or with the reason why there are none. The importer only reads files.
 *
 * <p>{@code AtsImport} calls one reader for each file. To support a new line or option of a file, begin with the reader
 * of this file:
 *
 * <pre>
 *   records.yaml, records.config     settings.RecordsImport     parent.config      parent.ParentImport
 *   remap.config, plugins of rules   remap.RemapImport          strategies.yaml    parent.StrategiesImport
 *   remap.yaml                       remap.RemapYamlImport      sni.yaml           SniImport
 *   cache.config                     CacheConfigImport          ssl_multicert.*    settings.CertificateImport
 *   storage.*, volume, hosting       settings.StorageImport     splitdns.config    settings.SplitDnsImport
 *   ip_allow.*                       remap.IpAllowImport        logging.*          settings.LogImport
 * </pre>
 */
@NullMarked
package io.millrace.launcher.ats;

import org.jspecify.annotations.NullMarked;
