/** Signs URLs for {@code millctl sign}, and revisions for {@code millctl fleet config}. */
@NullMarked
package io.millrace.cli.sign;

import org.jspecify.annotations.NullMarked;
