// What the site takes of hyparquet-writer: bundled by make site-scripts, as files load no modules.
import { parquetWriteBuffer } from "hyparquet-writer";

window.mlsubParquet = parquetWriteBuffer;
