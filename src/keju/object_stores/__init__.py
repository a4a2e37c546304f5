"""Object stores: files at addresses, read on demand, cached and written.

`ObjectFolder` reads and writes the objects below an address with obstore (``pip install
"keju[object-stores]"``): ``s3://BUCKET/PREFIX``, ``gs://BUCKET/PREFIX`` or
``az://CONTAINER/PREFIX``. Credentials and endpoint come from the environment
(``AWS_ACCESS_KEY_ID``, ``GOOGLE_APPLICATION_CREDENTIALS`` …), never from an address or a file of
keju. `FileCache` keeps fetched files in a bounded folder that several processes share.
"""

from keju.object_stores.address import STORES, Address, is_address, parse_address
from keju.object_stores.cache import FileCache, cache_folder
from keju.object_stores.folder import ObjectFolder, stage_output, upload_folder

__all__ = [
    "STORES",
    "Address",
    "FileCache",
    "ObjectFolder",
    "cache_folder",
    "is_address",
    "parse_address",
    "stage_output",
    "upload_folder",
]
